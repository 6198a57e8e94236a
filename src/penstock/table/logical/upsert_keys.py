"""By which columns the last version of a row is found: sets of columns that identify rows of a changelog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.columns.typed.nodes import Convert, InputRef, Invoke, SortKey, Typed
from penstock.columns.typesystem.base import IntegralType
from penstock.columns.typesystem.scalars import CharType, VarCharType
from penstock.table.logical import nodes as plan
from penstock.table.logical.lookup_keys import finds_one_row

Key = frozenset[int]
Keys = frozenset[Key]
NONE: Keys = frozenset()


def upsert_keys(node: plan.Relation) -> Keys:
    """The keys of a node, found from its inputs."""
    match node:
        case plan.Scan():
            return _scan(node)
        case plan.Project():
            return _project(node)
        case plan.Filter() | plan.Snapshot() | plan.Sort() | plan.Limit() | plan.Sink():
            return upsert_keys(node.inputs()[0])
        case plan.OverAggregation():
            return _over(node)
        case plan.Aggregation():
            return NONE if node.sets else frozenset({frozenset(range(len(node.keys)))})
        case plan.JoinRelation():
            return _join(node)
        case plan.Rank():
            return _rank(node)
        case plan.Deduplicate() | plan.ChangelogNormalize():
            return frozenset({frozenset(node.keys)})
        case plan.DropUpdateBefore() | plan.SinkMaterialize():
            return upsert_keys(node.inputs()[0])
        case plan.TemporalJoin():
            return upsert_keys(node.left)
        case plan.LookupJoin():
            return upsert_keys(node.left) if finds_one_row(node) else NONE
    return NONE


def _scan(node: plan.Scan) -> Keys:
    key = node.definition.primary_key if node.definition is not None else ()
    return frozenset({frozenset(node.names.index(name) for name in key)}) if key else NONE


def _project(node: plan.Project) -> Keys:
    """Keys whose columns all survive as they are; a column may survive in several places."""
    places: dict[int, list[int]] = {}
    for place, expression in enumerate(node.expressions):
        column = _kept_column(expression)
        if column is not None:
            places.setdefault(column, []).append(place)
    found = set()
    for key in upsert_keys(node.source):
        if all(column in places for column in key):
            found.add(frozenset(places[column][0] for column in key))
    return frozenset(found)


def _rank(node: plan.Rank) -> Keys:
    """With ranks a row is found by its partition and rank; the keys of the input hold if they name the partition."""
    partition = frozenset(node.partition_by)
    found = {key for key in upsert_keys(node.source) if partition <= key}
    if node.numbered:
        found.add(partition | {len(node.fields) - 1})
    if node.start == node.end and not node.limit:
        found.add(partition)
    return frozenset(found)


def _over(node: plan.OverAggregation) -> Keys:
    """Keys that name the partition: versions of a row in two partitions overtake each other."""
    partition = frozenset(one.index for one in node.calls[0].partition_by if isinstance(one, InputRef))
    return frozenset(key for key in upsert_keys(node.source) if partition <= key)


def _kept_column(expression: Typed) -> int | None:
    """A column as it is, or cast to a type in which different values stay different."""
    if isinstance(expression, InputRef):
        return expression.index
    if isinstance(expression, Convert) and isinstance(expression.operand, InputRef):
        source, target = expression.operand.data_type, expression.data_type
        widened = isinstance(source, IntegralType) and isinstance(target, IntegralType) and target.WIDTH >= source.WIDTH
        texts = isinstance(source, (CharType, VarCharType)) and isinstance(target, VarCharType)
        if widened or (texts and target.length >= source.length):  # type: ignore[attr-defined]
            return expression.operand.index
    return None


def _join(node: plan.JoinRelation) -> Keys:
    left, right = upsert_keys(node.left), upsert_keys(node.right)
    if node.kind in ("SEMI", "ANTI"):
        return left
    width = len(node.left.fields)
    pairs = equal_columns(node.condition, width)
    right_shifted = frozenset(frozenset(column + width for column in key) for key in right)
    left_unique = _covered(left, (one for one, _ in pairs))
    right_unique = _covered(right, (other for _, other in pairs))
    found: set[Key] = set()
    if right_unique and node.kind in ("INNER", "LEFT"):
        found |= left
    if left_unique and node.kind in ("INNER", "RIGHT"):
        found |= right_shifted
    if node.kind == "INNER" or left_unique or right_unique:
        found |= {one | other for one in left for other in right_shifted}
    return frozenset(found)


def _covered(keys: Keys, columns: Iterable[int]) -> bool:
    """Whether the columns hold a whole key, so that at most one row matches."""
    given = frozenset(columns)
    return any(key <= given for key in keys)


def equal_columns(condition: Typed | None, width: int) -> list[tuple[int, int]]:
    """Pairs of columns that a join condition equates: left, and right counted from its own first column."""
    if not isinstance(condition, Invoke):
        return []
    if condition.function == "and":
        return [pair for argument in condition.arguments for pair in equal_columns(argument, width)]
    if condition.function != "equals":
        return []
    one, other = condition.arguments
    if not (isinstance(one, InputRef) and isinstance(other, InputRef)):
        return []
    first, second = sorted((one.index, other.index))
    return [(first, second - width)] if first < width <= second else []


def columns_are_time(keys: Sequence[SortKey]) -> bool:
    """Whether an ordering begins with a time attribute, ascending."""
    return bool(keys) and all(
        isinstance(key.operand, InputRef) and key.operand.time is not None and key.ascending for key in keys
    )
