"""Keys of joins: what conditions equate, as columns of both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress

from penstock.columns.typed.nodes import InputRef, Invoke, Typed, shifted
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.families import is_integer
from penstock.columns.typesystem.merging import common_type
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import all_of, call, conjuncts, moved, only_of
from penstock.table.resolution.calls import implied


@dataclass(frozen=True)
class JoinKeys:
    """A condition taken apart: columns of both sides that must be equal, and what else must hold."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    nulls_match: tuple[bool, ...]
    rest: Typed | None

    def with_nulls(self, side: tuple[int, ...]) -> tuple[int, ...]:
        """Of the keys of a side those of which NULL is equal to NULL."""
        return tuple(compress(side, self.nulls_match))


def join_keys(relation: plan.JoinRelation) -> JoinKeys:
    width = len(relation.left.fields)
    left: list[int] = []
    right: list[int] = []
    nulls: list[bool] = []
    rest: list[Typed] = []
    for one in conjuncts(relation.condition):
        pair = equated(one, width)
        if pair is None or not all(isinstance(side, InputRef) for side in pair):
            rest.append(one)
            continue
        ours, theirs = pair
        assert isinstance(ours, InputRef) and isinstance(theirs, InputRef) and isinstance(one, Invoke)
        left.append(ours.index)
        right.append(theirs.index)
        nulls.append(one.function == "isNotDistinctFrom")
    return JoinKeys(tuple(left), tuple(right), tuple(nulls), all_of(rest))


def equated(condition: Typed, width: int) -> tuple[Typed, Typed] | None:
    """Expressions of the left and of the right side, each over its own columns, that must be equal."""
    if not isinstance(condition, Invoke) or condition.function not in ("equals", "isNotDistinctFrom"):
        return None
    one, other = condition.arguments
    if only_of(other, 0, width):
        one, other = other, one
    if not only_of(one, 0, width) or not only_of(other, width, 1 << 30):
        return None
    target = _key_type(one.data_type, other.data_type)
    if target is None:
        return None
    return _as_key(one, target), _as_key(shifted(other, -width), target)


def _key_type(left: DataType, right: DataType) -> DataType | None:
    return left if _same_key(left, right) else common_type([left, right])


def _same_key(left: DataType, right: DataType) -> bool:
    """Whether equal values of two types are equal keys as they are."""
    both_whole = is_integer(left) and is_integer(right)
    return both_whole or to_arrow_type(left) == to_arrow_type(right)


def _as_key(node: Typed, target: DataType) -> Typed:
    return node if _same_key(node.data_type, target) else implied(node, target)


def join_by_columns(relation: plan.Relation) -> plan.Relation | None:
    """A join with columns for keys that are expressions; None if all keys are columns already."""
    if not isinstance(relation, plan.JoinRelation):
        return None
    width = len(relation.left.fields)
    sides = [builder.references(relation.left), builder.references(relation.right)]
    conditions: list[tuple[str, int, int] | Typed] = []
    added = False
    for one in conjuncts(relation.condition):
        pair = equated(one, width)
        if pair is None or all(isinstance(side, InputRef) for side in pair):
            conditions.append(one)
            continue
        added = True
        places = []
        for columns, node in zip(sides, pair, strict=True):
            if node not in columns:
                columns.append(node)
            places.append(columns.index(node))
        assert isinstance(one, Invoke)
        conditions.append((one.function, places[0], places[1]))
    if not added:
        return None
    left, right = (
        builder.project(
            source, columns, [*source.names, *(f"$k{place}" for place in range(len(source.names), len(columns)))]
        )
        for source, columns in zip((relation.left, relation.right), sides, strict=True)
    )
    condition = all_of([_over_wider(one, width, left, right) for one in conditions])
    joined = builder.joined(left, right, relation.kind, condition, relation.position)
    joined = replace(joined, state_ttl=relation.state_ttl)
    columns = builder.references(joined)
    kept = [*columns[:width], *columns[len(left.fields) :][: len(relation.right.fields)]]
    kept = kept[: len(relation.fields)]
    return builder.project(joined, kept, relation.names)


def _over_wider(
    condition: tuple[str, int, int] | Typed, width: int, left: plan.Relation, right: plan.Relation
) -> Typed:
    wider = len(left.fields)
    if isinstance(condition, tuple):
        function, ours, theirs = condition
        return call(function, builder.references(left)[ours], shifted(builder.references(right)[theirs], wider))
    places = {place: place for place in range(width)}
    places |= {width + place: wider + place for place in range(len(right.fields))}
    return moved(condition, places)
