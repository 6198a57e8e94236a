"""Rows of tables as columns: every type there and back, kinds, and keys in which NULL and NaN are values."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pytest

from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem.data_types import DataTypes
from penstock.common.types import Row, RowKind
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.key_columns import hashes_of, keys_of_column, numbered
from penstock.runtime.keys import stable_hash
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.row_type import TableRowType

VALUES: list[tuple[Any, Any]] = [
    (DataTypes.BOOLEAN(), True),
    (DataTypes.TINYINT(), -7),
    (DataTypes.BIGINT(), 2**62),
    (DataTypes.FLOAT(), 0.1),
    (DataTypes.DOUBLE(), 0.1),
    (DataTypes.STRING(), "ä"),
    (DataTypes.BYTES(), b"\x00\xff"),
    (DataTypes.DECIMAL(10, 2), Decimal("3.10")),
    (DataTypes.DATE(), datetime.date(1969, 12, 31)),
    (DataTypes.TIME(3), datetime.time(1, 2, 3, 4000)),
    (DataTypes.TIMESTAMP(0), datetime.datetime(1960, 1, 1)),
    (DataTypes.TIMESTAMP(3), datetime.datetime(2020, 1, 1, 0, 0, 0, 5000)),
    (DataTypes.TIMESTAMP(9), datetime.datetime(2020, 1, 1, 0, 0, 0, 5)),
    (DataTypes.ARRAY(DataTypes.DATE()), [datetime.date(2020, 1, 1), None]),
    (DataTypes.MAP(DataTypes.STRING(), DataTypes.TIMESTAMP(3)), {"a": datetime.datetime(2020, 1, 1)}),
    (DataTypes.MULTISET(DataTypes.STRING()), {"a": 2}),
    (DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT()), DataTypes.FIELD("y", DataTypes.DATE())]), Row(1, None)),
    (DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND()), datetime.timedelta(hours=5)),
]


def _type(*types: Any) -> TableRowType:
    return TableRowType([f"c{place}" for place in range(len(types))], types)


@pytest.mark.parametrize(("data_type", "value"), VALUES, ids=[kind.as_summary_string() for kind, _ in VALUES])
def test_values_come_back_as_they_were_given(data_type: Any, value: Any) -> None:
    codec = TableCodec(_type(data_type))
    rows = [Row.of_kind(RowKind.INSERT, value), Row.of_kind(RowKind.DELETE, None)]
    decoded = codec.decode(codec.encode(rows))
    assert [tuple(row) for row in decoded] == [(value,), (None,)]
    assert [row.get_row_kind() for row in decoded] == [RowKind.INSERT, RowKind.DELETE]


def test_kinds_are_a_column_only_when_some_row_is_no_insertion() -> None:
    codec = codec_for(_type(DataTypes.INT()))
    assert isinstance(codec, TableCodec)
    assert Batch.of_columns(codec, codec.encode([(1,), [2]])).kinds is None
    changed = Batch.of_columns(codec, codec.encode([Row.of_kind(RowKind.UPDATE_AFTER, 1)]))
    assert changed.kinds is not None and changed.kinds.tolist() == [2]


def test_rows_without_columns_are_counted() -> None:
    codec = TableCodec(_type())
    assert codec.decode(codec.encode([Row(), Row()])) == [Row._of((), []), Row._of((), [])]


def test_a_value_that_does_not_fit_is_named_with_its_column() -> None:
    codec = TableCodec(TableRowType(["amount"], [DataTypes.INT()]))
    with pytest.raises(ValueFailure, match="Column 'amount' is INT: 'x' does not fit it"):
        codec.encode([(1,), ("x",)])


KEYS: list[tuple[list[Any], list[tuple[Any, ...]]]] = [
    ([DataTypes.INT()], [(1,), (None,), (1,), (None,)]),
    ([DataTypes.STRING()], [("a",), (None,), ("a",), (None,)]),
    ([DataTypes.STRING(), DataTypes.BIGINT()], [("a", None), (None, 1), ("a", None), (None, 1)]),
    ([DataTypes.DOUBLE()], [(math.nan,), (0.0,), (-math.nan,), (0.0,)]),
    ([DataTypes.FLOAT()], [(0.0,), (None,), (0.0,), (None,)]),
    ([DataTypes.DECIMAL(5, 2)], [(Decimal("1"),), (Decimal("2"),), (Decimal("1.00"),), (Decimal("2.0"),)]),
    ([DataTypes.DATE()], [(datetime.date(2020, 1, 1),), (None,), (datetime.date(2020, 1, 1),), (None,)]),
    ([DataTypes.TIMESTAMP(3)], [(datetime.datetime(2020, 1, 1),), (None,)] * 2),
    ([DataTypes.BOOLEAN()], [(True,), (None,)] * 2),
    ([DataTypes.BYTES()], [(b"a",), (b"",)] * 2),
    ([DataTypes.ARRAY(DataTypes.INT())], [([1, None],), (None,)] * 2),
]


@pytest.mark.parametrize(("types", "rows"), KEYS, ids=[str([t.as_summary_string() for t in k]) for k, _ in KEYS])
def test_equal_rows_have_equal_keys_and_the_owners_of_single_keys(types: Any, rows: Any) -> None:
    selector = RowKey(_type(*types), range(len(types)))
    column = selector.key_column_of(Batch([Row(*row) for row in rows]))
    keys = keys_of_column(column)
    assert keys[0] == keys[2] and keys[1] == keys[3] and keys[0] != keys[1]
    assert hashes_of(column).tolist() == [stable_hash(key) for key in keys]
    assert numbered(column).codes.tolist() == [0, 1, 0, 1]
    assert selector.get_key(Row(*rows[0])) == keys[0]


def test_no_key_columns_bring_all_rows_together() -> None:
    selector = RowKey(_type(DataTypes.INT()), ())
    assert keys_of_column(selector.key_column_of(Batch([Row(1), Row(2)]))) == [0, 0]
