"""GROUP BY against a reference that goes record by record, for random cuts into batches and random restarts."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.table.changelogs import Change, TableHarness, random_changelog, row_type, table_of

from penstock.columns.typed.nodes import Aggregate, Constant, InputRef
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.table.group_aggregate import Bundle, GroupAggregateParams

_TEXT = DataTypes.STRING()
COLUMNS: list[DataType] = [
    DataTypes.BIGINT(), DataTypes.INT(), DataTypes.DOUBLE(), DataTypes.DECIMAL(10, 2), _TEXT, DataTypes.BOOLEAN(),
]  # fmt: skip


def ref(place: int) -> InputRef:
    return InputRef(COLUMNS[place], place, f"c{place}")


def call(function: str, result: DataType, *places: int, **more: Any) -> Aggregate:
    return Aggregate(result, function, tuple(ref(place) for place in places), **more)


Values = list[list[Any]]  # the values of each column, since Flink takes back the first that is equal


def present(values: Values, place: int) -> list[Any]:
    return [value for value in values[place] if value is not None]


def _whole_average(values: Values) -> int | None:
    found = present(values, 1)
    if not found:
        return None
    total = sum(found)
    return abs(total) // len(found) * (1 if total >= 0 else -1)


def _decimal_average(values: Values) -> Decimal | None:
    found = present(values, 3)
    return (sum(found) / Decimal(len(found))).quantize(Decimal("0.000001"), "ROUND_HALF_UP") if found else None


_BIG = DataTypes.BIGINT(False)
# Each call with what it means for all rows that a group has, in their order.
CALLS: dict[str, tuple[Aggregate, Callable[[Values], Any]]] = {
    "count_all": (call("count", _BIG), lambda v: len(v[0])),
    "count": (call("count", _BIG, 1), lambda v: len(present(v, 1))),
    "sum": (call("sum", DataTypes.INT(), 1), lambda v: sum(present(v, 1)) if present(v, 1) else None),
    "sum0": (call("sum0", DataTypes.INT(False), 1), lambda v: sum(present(v, 1))),
    "decimal_sum": (
        call("sum", DataTypes.DECIMAL(38, 2), 3),
        lambda v: sum(present(v, 3), Decimal("0.00")) if present(v, 3) else None,
    ),
    "avg": (call("avg", DataTypes.INT(), 1), _whole_average),
    "decimal_avg": (call("avg", DataTypes.DECIMAL(38, 6), 3), _decimal_average),
    "max": (call("max", DataTypes.INT(), 1), lambda v: max(present(v, 1), default=None)),
    "min_text": (call("min", _TEXT, 4), lambda v: min(present(v, 4), default=None)),
    "max_decimal": (call("max", DataTypes.DECIMAL(10, 2), 3), lambda v: max(present(v, 3), default=None)),
    "first": (call("first_value", _TEXT, 4), lambda v: next(iter(present(v, 4)), None)),
    "last": (call("last_value", DataTypes.INT(), 1), lambda v: next(reversed(present(v, 1)), None)),
    "listagg": (call("listAgg", _TEXT, 4), lambda v: ",".join(present(v, 4)) if present(v, 4) else None),
    "array": (call("ARRAY_AGG", DataTypes.ARRAY(DataTypes.INT()), 1), lambda v: list(v[1]) or None),
    "collect": (call("collect", DataTypes.MULTISET(_TEXT), 4), lambda v: dict(Counter(present(v, 4)))),
    "distinct": (call("count", _BIG, 4, distinct=True), lambda v: len(set(present(v, 4)))),
    "distinct_sum": (
        call("sum", DataTypes.INT(), 1, distinct=True),
        lambda v: sum(set(present(v, 1))) if present(v, 1) else None,
    ),
    "filter": (call("count", _BIG, where=ref(5)), lambda v: v[5].count(True)),
}


def reference(names: Sequence[str], changes: Sequence[Change], before: bool = True) -> list[Change]:
    """Flink's rule for one record: first +I, then -U and +U if something changed, -D for the last one."""
    groups: dict[Any, Values] = {}
    found: list[Change] = []

    def state(rows: Values) -> list[Any]:
        return [CALLS[name][1](rows) for name in names]

    for kind, row in changes:
        key = row[0]
        rows = groups.get(key)
        if kind in ("+I", "+U"):
            if rows is None:
                groups[key] = [[value] for value in row]
                found.append(("+I", (key, *state(groups[key]))))
                continue
            old = state(rows)
            for values, value in zip(rows, row, strict=True):
                values.append(value)
        else:
            if rows is None:
                continue
            old = state(rows)
            for values, value in zip(rows, row, strict=True):
                values.remove(value)
            if not rows[0]:
                found.append(("-D", (key, *old)))
                del groups[key]
                continue
        if state(rows) != old:
            found += [("-U", (key, *old))] * before
            found.append(("+U", (key, *state(rows))))
    return found


def harness(names: Sequence[str], **params: Any) -> TableHarness:
    calls = tuple(CALLS[name][0] for name in names)
    types = row_type(COLUMNS)
    return TableHarness(
        "table_group_aggregate",
        {"aggregate": GroupAggregateParams(types, (0,), calls, **params)},
        [COLUMNS],
        [(0,)],
        [COLUMNS[0], *(call.data_type for call in calls)],
    )


def make_row(rng: random.Random) -> tuple[Any, ...]:
    maybe = lambda value: None if rng.random() < 0.15 else value  # noqa: E731
    return (
        maybe(rng.choice((1, 1, 1, 2, 3, rng.randrange(50)))),
        maybe(rng.randrange(-5, 5)),
        maybe(rng.choice((0.5, -1.25, 3.0))),
        maybe(Decimal(rng.randrange(-300, 300)).scaleb(-2)),
        maybe(rng.choice("abcde")),
        maybe(rng.random() < 0.5),
    )


@pytest.mark.parametrize("retracting", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_changelog_is_that_of_record_by_record(seed: int, retracting: bool) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        names = rng.sample(sorted(CALLS), rng.randrange(0, 6))
        changes = random_changelog(rng, 300, make_row, retracting)
        before = rng.random() < 0.7
        table = harness(names, retracting=retracting, before=before)
        table.push_cut(changes, rng)
        assert table.take() == reference(names, changes, before), names


@pytest.mark.parametrize("name", sorted(CALLS))
def test_each_function_with_retractions(name: str) -> None:
    rng = random.Random(7)
    changes = random_changelog(rng, 200, make_row, True)
    table = harness([name], retracting=True)
    table.push_cut(changes, rng)
    assert table.take() == reference([name], changes)


def test_a_hot_key_among_others() -> None:
    rng = random.Random(3)
    changes: list[Change] = [
        ("+I", (rng.choice((1, 1, 1, 1, rng.randrange(300))), *make_row(rng)[1:])) for _ in range(3000)
    ]
    names = ["count_all", "sum", "max", "avg", "first", "last", "decimal_sum"]
    table = harness(names)
    table.push(changes)
    assert table.take() == reference(names, changes)


def test_taking_back_from_an_unknown_group_is_ignored() -> None:
    table = harness(["count_all"], retracting=True)
    row = (1, 1, None, None, None, None)
    table.push([("-D", row), ("+I", row), ("-D", row), ("-D", row), ("+I", row)])
    assert table.take() == [("+I", (1, 1)), ("-D", (1, 1)), ("+I", (1, 1))]


def test_bundles_give_one_change_of_each_group() -> None:
    rng = random.Random(11)
    changes = random_changelog(rng, 400, make_row, True)
    names = ["count_all", "sum", "min_text", "array"]
    table = harness(names, retracting=True, bundle=Bundle(50, 1_000))
    table.push_cut(changes, rng)
    table.harness.operator.end_epoch()
    bundled = table.take()
    assert table_of(bundled) == table_of(reference(names, changes))
    assert len(bundled) < len(reference(names, changes))
    table.push(changes[:0])
    table.push([("+I", (77, 1, None, None, "x", None)), ("+I", (77, 2, None, None, "y", None))])
    assert table.take() == []
    table.harness.processing_time(1_000)
    assert table.take() == [("+I", (77, 2, 3, "x", [1, 2]))]


def test_a_bundle_has_so_many_rows_and_ends_with_the_input() -> None:
    table = harness(["count_all"], bundle=Bundle(3, 1_000))
    row = (1, 1, None, None, None, None)
    table.push([("+I", row)] * 2)
    table.push([("+I", row)] * 5)
    assert table.take() == [("+I", (1, 3)), ("-U", (1, 3)), ("+U", (1, 6))]
    table.harness.watermark(5)
    assert table.take() == []
    table.harness.end_of_input()
    assert table.take() == [("-U", (1, 6)), ("+U", (1, 7))]


def test_batch_mode_gives_final_rows_only() -> None:
    rng = random.Random(12)
    changes = random_changelog(rng, 300, make_row, False)
    names = ["count_all", "decimal_sum", "max"]
    table = harness(names, only_final=True)
    table.push_cut(changes, rng)
    assert table.take() == []
    table.harness.end_of_input()
    assert table_of(table.take()) == table_of(reference(names, changes))


def test_groups_that_saw_no_row_for_long_are_forgotten() -> None:
    table = harness(["count_all"], ttl=1_000)
    row = (1, 1, None, None, None, None)
    table.push([("+I", row), ("+I", row)])
    table.harness.processing_time(900)
    table.push([("+I", row)])
    table.harness.processing_time(1_899)
    table.push([("+I", row)])
    table.harness.restart()
    table.harness.processing_time(2_899)
    table.push([("+I", row)])
    assert [change for change in table.take() if change[0] != "-U"] == [
        ("+I", (1, 1)), ("+U", (1, 2)), ("+U", (1, 3)), ("+U", (1, 4)), ("+I", (1, 1)),
    ]  # fmt: skip


def test_unchanged_results_are_told_when_groups_are_forgotten() -> None:
    table = harness(["max"], ttl=1_000)
    row = (1, 1, None, None, None, None)
    table.push([("+I", row), ("+I", row)])
    assert table.take() == [("+I", (1, 1)), ("-U", (1, 1)), ("+U", (1, 1))]


@pytest.mark.parametrize(
    ("function", "expected"),
    [("varPop", statistics.pvariance), ("varSamp", statistics.variance), ("stddevPop", statistics.pstdev)],
)
def test_variances(function: str, expected: Callable[[Any], float]) -> None:
    numbers = [0.5, 2.0, 7.25, -3.0]
    calls = (call(function, DataTypes.DOUBLE(), 2),)
    params = GroupAggregateParams(row_type(COLUMNS), (0,), calls, retracting=True)
    types = [COLUMNS[0], DataTypes.DOUBLE()]
    table = TableHarness("table_group_aggregate", {"aggregate": params}, [COLUMNS], [(0,)], types)
    table.push([("+I", (1, None, number, None, None, None)) for number in (*numbers, 100.0)])
    table.push([("-D", (1, None, 100.0, None, None, None))])
    assert table.take()[-1][1][1] == pytest.approx(expected(numbers))


def test_an_average_that_stays_is_not_told_again() -> None:
    table = harness(["avg"])
    table.push([("+I", (1, 4, None, None, None, None)), ("+I", (1, 4, None, None, None, None))])
    assert table.take() == [("+I", (1, 4))]


def test_a_variance_counts_as_changed_with_its_count() -> None:
    calls = (call("varPop", DataTypes.DOUBLE(), 2),)
    types = [COLUMNS[0], DataTypes.DOUBLE()]
    params = GroupAggregateParams(row_type(COLUMNS), (0,), calls)
    table = TableHarness("table_group_aggregate", {"aggregate": params}, [COLUMNS], [(0,)], types)
    table.push([("+I", (1, None, 4.0, None, None, None)), ("+I", (1, None, 4.0, None, None, None))])
    assert table.take() == [("+I", (1, 0.0)), ("-U", (1, 0.0)), ("+U", (1, 0.0))]


def test_whole_numbers_wrap_as_in_java() -> None:
    table = harness(["sum"])
    table.push([("+I", (1, 2**31 - 1, None, None, None, None)), ("+I", (1, 1, None, None, None, None))])
    assert table.take()[-1] == ("+U", (1, -(2**31)))


def test_a_large_decimal_sum_is_exact() -> None:
    amount = Decimal("99999999.99")
    calls = (call("sum", DataTypes.DECIMAL(38, 2), 3),)
    params = GroupAggregateParams(row_type(COLUMNS), (), calls)
    table = TableHarness("table_group_aggregate", {"aggregate": params}, [COLUMNS], [()], [DataTypes.DECIMAL(38, 2)])
    table.push([("+I", (1, None, None, amount, None, None))] * 1000)
    assert table.take()[-1] == ("+U", (amount * 1000,))


def test_listagg_with_a_delimiter() -> None:
    delimiter = Constant(DataTypes.STRING(False), " & ")
    calls = (Aggregate(_TEXT, "listAgg", (ref(4), delimiter)),)
    params = GroupAggregateParams(row_type(COLUMNS), (), calls)
    table = TableHarness("table_group_aggregate", {"aggregate": params}, [COLUMNS], [()], [_TEXT])
    table.push([("+I", (1, None, None, None, text, None)) for text in ("a", None, "b")])
    assert table.take() == [("+I", ("a",)), ("-U", ("a",)), ("+U", ("a & b",))]
