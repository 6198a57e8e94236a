"""Plans before they are carried out: named rules that replace what SQL can say by what operators can do.

A rule looks at one node, whose inputs have been rewritten, and returns another node with the same columns, or None.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.table.logical.nodes import Relation

Rewrite = Callable[[Relation], Relation | None]

REWRITES: tuple[Rewrite, ...] = ()


def rewritten(relation: Relation, rules: tuple[Rewrite, ...] = REWRITES) -> Relation:
    """The plan after all rules, inputs first; what a rule returns is looked at again."""
    known: dict[int, Relation] = {}

    def visit(node: Relation) -> Relation:
        # One object may stand in several places (a view used twice), and stays one.
        if id(node) not in known:
            known[id(node)] = _settled(_with_inputs(node, tuple(visit(source) for source in node.inputs())), rules)
        return known[id(node)]

    return visit(relation)


def _with_inputs(node: Relation, inputs: tuple[Relation, ...]) -> Relation:
    changed = any(new is not old for new, old in zip(inputs, node.inputs(), strict=True))
    return node.with_inputs(inputs) if changed else node


def _settled(node: Relation, rules: tuple[Rewrite, ...]) -> Relation:
    for rule in rules:
        found = rule(node)
        if found is not None:
            return rewritten(found, rules)
    return node
