"""Which updates travel where: with the row as it was before, or only with the new one. From the sink to the sources.

Every node is asked for a form of updates. It gives what it is asked for if it can, asks its inputs for what it needs,
and answers None when it cannot; whoever asked then asks for the other form. Between nodes that do not fit come
ChangelogNormalize (upserts -> both) and DropUpdateBefore (both -> after), before some sinks SinkMaterialize.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from penstock.columns.typed.nodes import TimeAttribute, columns_of
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import INSERTS, kinds
from penstock.table.logical.rank_strategy import APPEND, UPDATE, strategy_of
from penstock.table.logical.upsert_keys import equal_columns, upsert_keys
from penstock.table.sql.errors import SqlValidationError


class Form(Enum):
    """How updates come."""

    AFTER = "after"
    BOTH = "both"


def with_update_kinds(
    root: plan.Relation, materialize: str = "AUTO", explained: bool = False, duplicates: bool = False
) -> plan.Relation:
    """The plan with `update_before` set everywhere, and with the nodes that changelogs need.

    materialize is AUTO, FORCE or NONE: whether sinks keep the rows of a primary key. A query that is only explained has
    nobody who asks for the rows before updates, as in Flink. With duplicates, sources may tell a change again.
    """
    visit = _Visit(duplicates)
    if isinstance(root, plan.Sink):
        return _sink(root, materialize, visit)
    found = visit.visit(root, Form.AFTER) if explained else None
    found = visit.visit(root, Form.BOTH) if found is None else found
    assert found is not None, "every node can give both rows of an update"
    return found


class _Visit:
    """One walk; a node that is asked for two forms is there twice, as each gives other rows."""

    def __init__(self, duplicates: bool) -> None:
        self._duplicates = duplicates
        self._known: dict[tuple[int, Form], tuple[plan.Relation, plan.Relation | None]] = {}

    def visit(self, node: plan.Relation, form: Form) -> plan.Relation | None:
        if "U" not in kinds(node):
            form = Form.BOTH
        known = self._known.get((id(node), form))
        if known is None:
            known = self._known[id(node), form] = (node, self._visited(node, form))
        return known[1]

    def _visited(self, node: plan.Relation, form: Form) -> plan.Relation | None:
        if isinstance(node, plan.Scan):
            return _scan(node, form, self._duplicates)
        wanted = _wanted_of_inputs(node, form)
        if wanted is None:
            return None
        inputs = [self.visit(source, one) for source, one in zip(node.inputs(), wanted, strict=True)]
        if any(source is None for source in inputs):
            return None
        found = node.with_inputs(tuple(source for source in inputs if source is not None)) if inputs else node
        return replace(found, update_before=form is Form.BOTH)


def _wanted_of_inputs(node: plan.Relation, form: Form) -> Sequence[Form] | None:
    """For each input the form that the node needs to give this form; None: it cannot."""
    match node:
        case plan.Filter():
            return None if form is Form.AFTER and not _by_key(node) else [form]
        case plan.Project() | plan.SetRelation() | plan.Expand() | plan.Sink():
            return [form] * len(node.inputs())
        case plan.Correlation():
            return [form, Form.BOTH]
        case plan.TemporalJoin():
            return None if _may_drop(node, form) else [form, Form.BOTH]
        case plan.LookupJoin():
            return None if _may_drop(node, form) else [form]
        case plan.Replication() | plan.FromChangelog():
            return None if form is Form.AFTER else [form]
        case plan.Rank():
            return [Form.AFTER if strategy_of(node)[0] in (APPEND, UPDATE) else Form.BOTH]
        case plan.ChangelogNormalize():
            return [Form.AFTER]
        case plan.JoinRelation():
            return _join(node, form)
    return [Form.BOTH] * len(node.inputs())


def _may_drop(node: plan.TemporalJoin | plan.LookupJoin, form: Form) -> bool:
    """Whether an update may find no partner although the row before had one: somebody has to take that row back."""
    return form is Form.AFTER and node.kind == "INNER"


def _by_key(node: plan.Filter) -> bool:
    """Whether a row and its update pass the filter together, because it looks at nothing that updates change."""
    read = columns_of(node.condition)
    return any(read <= key for key in upsert_keys(node.source))


def _join(node: plan.JoinRelation, form: Form) -> Sequence[Form] | None:
    if form is Form.BOTH:
        return [Form.BOTH, Form.BOTH]
    pairs = equal_columns(node.condition, len(node.left.fields))
    sides = ((node.left, [one for one, _ in pairs]), (node.right, [other for _, other in pairs]))
    for side, columns in sides:
        if "U" in kinds(side) and not any(set(columns) <= key for key in upsert_keys(side)):
            return None
    return [Form.AFTER, Form.AFTER]


def _scan(node: plan.Scan, form: Form, duplicates: bool) -> plan.Relation:
    repeats = duplicates and node.definition is not None and bool(node.definition.primary_key)
    if node.definition is not None and (node.definition.upserts or (repeats and kinds(node) != INSERTS)):
        keys = tuple(node.names.index(name) for name in node.definition.primary_key)
        if not keys:
            raise SqlValidationError(
                f"The table {'.'.join(node.path)} gives upserts, and so needs a PRIMARY KEY.", node.position
            )
        source: plan.Relation = replace(node, update_before=False)
        if not node.definition.upserts:
            source = plan.DropUpdateBefore(node.fields, node, update_before=False)
        return plan.ChangelogNormalize(node.fields, source, keys, update_before=form is Form.BOTH)
    if form is Form.AFTER and "U" in kinds(node):
        return plan.DropUpdateBefore(node.fields, node, update_before=False)
    return node


# -- sinks -------------------------------------------------------------------------------------------------------------


def _sink(sink: plan.Sink, materialize: str, visit: _Visit) -> plan.Sink:
    definition = sink.definition
    given = kinds(sink.source)
    if definition is None:
        return sink
    refused = given - frozenset(definition.sink_accepts)
    if refused and given != INSERTS:
        raise SqlValidationError(_refusal(sink, refused), sink.position)
    key = frozenset(sink.names.index(name) for name in definition.primary_key if name in sink.names)
    upserting = bool(key) and not definition.sink_before
    forms = [Form.BOTH]
    if upserting and any(one <= key for one in upsert_keys(sink.source)):
        forms.insert(0, Form.AFTER)
    for form in forms:
        source = visit.visit(sink.source, form)
        if source is not None:
            break
    assert source is not None
    covered = any(one <= key for one in upsert_keys(sink.source))
    conflict = sink.on_conflict
    if conflict is not None:
        _check_conflict(sink, upserting, covered)
    # Rows of different keys of the query may have one primary key: who came last is not who is there last.
    needed = not covered and (given != INSERTS if conflict in (None, "DEDUPLICATE") else True)
    wanted = materialize == "FORCE" or (needed and (materialize == "AUTO" or conflict is not None))
    if upserting and wanted:
        how = "DEDUPLICATE" if conflict is None or covered else conflict
        source = plan.SinkMaterialize(source.fields, source, tuple(sorted(key)), how, update_before=False)
    return replace(sink, source=source, update_before=source.update_before)


def _check_conflict(sink: plan.Sink, upserting: bool, covered: bool) -> None:
    if not upserting:
        raise SqlValidationError(
            f"ON CONFLICT is for sinks that are written by a primary key, which {'.'.join(sink.path)} is not.",
            sink.position,
        )
    if sink.on_conflict == "DEDUPLICATE" or covered:
        return
    untimed = next((scan for scan in _scans(sink.source) if not _has_rowtime(scan)), None)
    if untimed is not None:
        raise SqlValidationError(
            f"ON CONFLICT DO {sink.on_conflict} looks for conflicts when watermarks pass, but {'.'.join(untimed.path)}"
            " has no WATERMARK. Declare one, or write ON CONFLICT DO DEDUPLICATE.",
            sink.position,
        )


def _scans(node: plan.Relation) -> list[plan.Scan]:
    return [node] if isinstance(node, plan.Scan) else [scan for source in node.inputs() for scan in _scans(source)]


def _has_rowtime(scan: plan.Scan) -> bool:
    fields = scan.fields if scan.definition is None else scan.definition.fields
    return any(field.time is TimeAttribute.ROWTIME for field in fields)


def _refusal(sink: plan.Sink, refused: frozenset[str]) -> str:
    producer = sink.source
    words = [word for kind, word in (("U", "update"), ("D", "delete")) if kind in refused]
    while producer.inputs() and any(kinds(source) & refused for source in producer.inputs()):
        producer = next(source for source in producer.inputs() if kinds(source) & refused)
    return (
        f"Table sink '{'.'.join(sink.path)}' doesn't support consuming {' and '.join(words)} changes"
        f" which is produced by node {type(producer).__name__}."
        " Write into a sink that takes changes, or use a query that only adds rows."
    )
