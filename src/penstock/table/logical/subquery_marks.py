"""IN, EXISTS and quantified comparisons as values: a left join brings what is known of the subquery's rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, Invoke, SubqueryTest, Typed, shifted
from penstock.columns.typesystem.scalars import BigIntType, BooleanType
from penstock.table.logical import builder
from penstock.table.logical.conditions import all_of, call
from penstock.table.logical.nodes import Relation

# The conditions that tie a subquery to the rows around it, when its columns begin at a place.
Ties = Callable[[int], list[Typed]]
_TRUE, _FALSE = (Constant(BooleanType(False), value) for value in (True, False))
_UNKNOWN = Constant(BooleanType(True), None)


def marked(
    source: Relation, test: SubqueryTest, plan: Relation, ties: Ties, keys: list[int], lenient: bool
) -> tuple[Relation, Typed]:
    """The source with more columns, and the test over them; lenient: unknown may be false."""
    if test.comparison is None:
        return _there(source, plan, ties, keys, [], [])
    negated = test.every and test.comparison == "notEquals"
    if not negated and (test.every or test.comparison != "equals"):
        return _quantified(source, test, plan, ties, keys)
    certain = lenient and not negated or not test.data_type.is_nullable
    columns = list(range(len(test.operands)))
    found, there = _there(source, plan, ties, keys, list(test.operands), columns)
    if not certain:
        found, there = _or_unknown(found, test, plan, ties, keys, there)
    return found, call("not", there) if negated else there


def _there(
    source: Relation, plan: Relation, ties: Ties, keys: list[int], operands: list[Typed], columns: list[int]
) -> tuple[Relation, Typed]:
    """Whether there is a row, of those with these values."""
    kept = list(dict.fromkeys([*columns, *keys]))
    references = builder.references(plan)
    rows = builder.project(plan, [*(references[at] for at in kept), _TRUE], [*(plan.names[at] for at in kept), "$i"])
    once = builder.distinct(rows)
    start = len(source.fields)
    places = {column: place for place, column in enumerate(kept)}
    same = [
        call("equals", operand, shifted(builder.references(once)[places[column]], start))
        for operand, column in zip(operands, columns, strict=True)
    ]
    tied = _moved(ties(start), start, places)
    found = builder.joined(source, once, "LEFT", all_of([*same, *tied]))
    return found, call("isNotNull", builder.references(found)[-1])


def _or_unknown(
    source: Relation, test: SubqueryTest, plan: Relation, ties: Ties, keys: list[int], there: Typed
) -> tuple[Relation, Typed]:
    """A value that is not found may still be one of the nulls, and a null may be anything that there is."""
    nullable = [operand for operand in test.operands if operand.data_type.is_nullable]
    references = builder.references(plan)
    known = all_of([call("isNotNull", references[place]) for place in range(len(test.operands))])
    assert known is not None
    found, count, whole = _counted(source, plan, ties, keys, known)
    nulls = [call("isNull", operand) for operand in nullable]
    unsure = _any([*nulls, call("lessThan", whole, count)])
    return found, _case((_nothing(count), _FALSE), (there, _TRUE), (unsure, _UNKNOWN), otherwise=_FALSE)


def _quantified(
    source: Relation, test: SubqueryTest, plan: Relation, ties: Ties, keys: list[int]
) -> tuple[Relation, Typed]:
    """x > ANY (..) compares with the lowest value, x > ALL (..) with the highest one."""
    assert test.comparison is not None
    operand, start = test.operands[0], len(source.fields)
    column = builder.references(plan)[0]
    kind = column.data_type.nullable()
    number = BigIntType(False)
    calls = [
        Aggregate(number, "count", ()),
        Aggregate(number, "count", (column,)),
        Aggregate(kind, "min", (column,)),
        Aggregate(kind, "max", (column,)),
    ]
    grouped = builder.aggregated(plan, keys, calls)
    places = {key: place for place, key in enumerate(keys)}
    found = builder.joined(source, grouped, "LEFT", all_of(_moved(ties(start), start, places)))
    count, whole, lowest, highest = builder.references(found)[-4:]
    comparison, every = test.comparison, test.every
    if comparison in ("equals", "notEquals"):  # = ALL, or <> ANY, which is its negation
        equal = call("and", call("equals", operand, lowest), call("equals", operand, highest))
        decided, every = equal, True
    else:
        low = comparison.startswith("greater") != test.every
        decided = call(comparison, operand, lowest if low else highest)
    unsure = _any([call("isNull", operand), call("lessThan", whole, count)])
    if every:
        value = _case((_nothing(count), _TRUE), (call("isFalse", decided), _FALSE), (unsure, _UNKNOWN), otherwise=_TRUE)
    else:
        value = _case((_nothing(count), _FALSE), (call("isTrue", decided), _TRUE), (unsure, _UNKNOWN), otherwise=_FALSE)
    return found, call("not", value) if comparison == "notEquals" else value


def _counted(
    source: Relation, plan: Relation, ties: Ties, keys: list[int], known: Typed
) -> tuple[Relation, Typed, Typed]:
    """How many rows there are, and how many without null."""
    references = builder.references(plan)
    rows = builder.project(plan, [*references, known], [*plan.names, "$known"])
    number = BigIntType(False)
    where = builder.references(rows)[-1]
    calls = [Aggregate(number, "count", ()), Aggregate(number, "count", (), where=where)]
    grouped = builder.aggregated(rows, keys, calls)
    start = len(source.fields)
    places = {key: place for place, key in enumerate(keys)}
    found = builder.joined(source, grouped, "LEFT", all_of(_moved(ties(start), start, places)))
    count, whole = builder.references(found)[-2:]
    return found, count, whole


def _moved(conditions: list[Typed], start: int, places: dict[int, int]) -> list[Typed]:
    """Ties over columns of the subquery that lie elsewhere now."""

    def placed(node: Typed) -> Typed:
        if isinstance(node, InputRef):
            return replace(node, index=start + places[node.index - start]) if node.index >= start else node
        return node.with_children(tuple(map(placed, node.children())))

    return [placed(one) for one in conditions]


def _nothing(count: Typed) -> Typed:
    return call("isNotTrue", call("greaterThan", count, Constant(BigIntType(False), 0)))


def _any(conditions: list[Typed]) -> Typed:
    return conditions[0] if len(conditions) == 1 else call("or", *conditions)


def _case(*cases: tuple[Typed, Typed], otherwise: Typed) -> Typed:
    value = otherwise
    for condition, result in reversed(cases):
        value = Invoke(BooleanType(True), "case", (condition, result, value))
    return value
