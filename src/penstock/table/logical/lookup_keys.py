"""By what a table outside is asked in a lookup join."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.columns.typed.nodes import InputRef, Typed
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import all_of, conjuncts
from penstock.table.logical.join_keys import equated
from penstock.table.sql.errors import SqlValidationError


@dataclass(frozen=True)
class LookupKeys:
    """Columns of the left and of the table that must be equal, and what else must hold."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    rest: Typed | None


def lookup_keys(join: plan.LookupJoin) -> LookupKeys:
    """By what the table is asked: columns that it stores. Other equalities are tested on what it answers."""
    width = len(join.left.fields)
    asked = join.table.definition.handle.lookup_names
    left: list[int] = []
    right: list[int] = []
    rest: list[Typed] = []
    for one in conjuncts(join.condition):
        pair = equated(one, width)
        ours, theirs = pair if pair is not None else (None, None)
        if (
            isinstance(ours, InputRef)
            and isinstance(theirs, InputRef)
            and join.table.names[theirs.index] in asked
            and theirs.index not in right
            and getattr(one, "function", "") == "equals"
        ):
            left.append(ours.index)
            right.append(theirs.index)
        else:
            rest.append(one)
    if not left:
        raise SqlValidationError(
            f"A lookup join needs an equality of a column of {'.'.join(join.table.path)} with a value of the same type"
            " from the left table. CAST the left side if the types differ.",
            join.position,
        )
    return LookupKeys(tuple(left), tuple(right), all_of(rest))


def finds_one_row(join: plan.LookupJoin) -> bool:
    """Whether the table has at most one row for what it is asked."""
    key = join.table.definition.primary_key
    asked = {join.table.names[place] for place in lookup_keys(join).right}
    return bool(key) and set(key) <= asked
