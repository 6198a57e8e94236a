"""Which parts of a plan say the same, so that they are computed once: subqueries that are written twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields as dataclass_fields
from typing import Any

from penstock.columns.typed.determinism import says_always_the_same
from penstock.columns.typed.nodes import Typed, walk
from penstock.table.logical.nodes import Relation


def interchangeable(one: Relation, other: Relation) -> bool:
    """Whether the rows of one can stand for those of the other."""
    return one == other and _updates_alike(one, other) and _says_always_the_same(one)


def _updates_alike(one: Relation, other: Relation) -> bool:
    """Equal relations may still differ in whether somebody wants the row before an update."""
    pairs = zip(one.inputs(), other.inputs(), strict=True)
    return one.update_before == other.update_before and all(_updates_alike(left, right) for left, right in pairs)


def _says_always_the_same(relation: Relation) -> bool:
    parts = (part for field in dataclass_fields(relation) for part in _expressions(getattr(relation, field.name)))
    deterministic = all(says_always_the_same(node) for part in parts for node in walk(part))
    return deterministic and all(_says_always_the_same(source) for source in relation.inputs())


def _expressions(value: Any) -> Iterator[Typed]:
    if isinstance(value, Typed):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _expressions(item)
