"""TO_CHANGELOG and FROM_CHANGELOG, in SQL and as methods of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common.errors import JobExecutionError
from penstock.common.types import Row, RowKind
from penstock.datastream import StreamExecutionEnvironment
from penstock.table import DataTypes, StreamTableEnvironment, Table
from penstock.table.expressions import col, descriptor, map_
from penstock.table.sql.errors import SqlValidationError

Factory = Callable[..., StreamExecutionEnvironment]
CHANGES = [
    (RowKind.INSERT, 1, "a"),
    (RowKind.UPDATE_BEFORE, 1, "a"),
    (RowKind.UPDATE_AFTER, 1, "b"),
    (RowKind.DELETE, 1, "b"),
]


@pytest.fixture
def t_env(local_env: Factory) -> StreamTableEnvironment:
    env = local_env(1, epoch_records=1, forget=True)
    t_env = StreamTableEnvironment.create(env)
    from penstock.common.typeinfo import Types

    stream = env.from_collection(
        [Row.of_kind(kind, *values) for kind, *values in CHANGES],
        Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]),
    )
    t_env.create_temporary_view("t", t_env.from_changelog_stream(stream))
    return t_env


def rows(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as found:
        return [(row.get_row_kind(), *row) for row in found]


def test_kinds_become_a_column_and_kinds_again(t_env: StreamTableEnvironment) -> None:
    changes = t_env.from_path("t").to_changelog()
    assert changes.get_schema().get_field_names() == ["op", "id", "name"]
    assert rows(changes) == [(RowKind.INSERT, kind.name, *values) for kind, *values in CHANGES]
    assert rows(changes.from_changelog()) == CHANGES


def test_codes_of_ones_own(t_env: StreamTableEnvironment) -> None:
    table = t_env.from_path("t").to_changelog(
        descriptor("gone").as_argument("op"),
        map_("INSERT, UPDATE_AFTER", "no", "DELETE", "yes").as_argument("op_mapping"),
    )
    assert [row[1:] for row in rows(table)] == [("no", 1, "a"), ("no", 1, "b"), ("yes", 1, "b")]
    back = table.from_changelog(
        descriptor("gone").as_argument("op"), map_("no", "UPDATE_AFTER", "yes", "DELETE").as_argument("op_mapping")
    )
    assert [row[0] for row in rows(back)] == [RowKind.UPDATE_AFTER, RowKind.UPDATE_AFTER, RowKind.DELETE]


def test_rows_are_taken_as_they_come(t_env: StreamTableEnvironment) -> None:
    with pytest.raises(SqlValidationError, match="leave PARTITION BY out"):
        t_env.sql_query("SELECT * FROM TO_CHANGELOG(input => TABLE t PARTITION BY name)")


def test_a_code_that_nobody_knows_fails(t_env: StreamTableEnvironment) -> None:
    table = t_env.from_elements([(1, "INSERT"), (2, "?")], DataTypes.ROW([
        DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("op", DataTypes.STRING())]))  # fmt: skip
    with pytest.raises(JobExecutionError, match="'\\?' in the column 'op' is no change"):
        rows(table.from_changelog())


def test_what_is_wrong_is_said(t_env: StreamTableEnvironment) -> None:
    table = t_env.from_path("t")
    with pytest.raises(SqlValidationError, match="no column 'op'"):
        t_env.from_elements([(1,)], ["id"]).from_changelog()
    with pytest.raises(SqlValidationError, match="is a column 'name' already|There is a column 'name'"):
        table.to_changelog(descriptor("name").as_argument("op"))
    with pytest.raises(SqlValidationError, match="'UPSERT' is no change"):
        table.to_changelog(map_("UPSERT", "u").as_argument("op_mapping"))
    with pytest.raises(SqlValidationError, match="FROM_CHANGELOG does not take updates"):
        rows(table.select(col("id"), col("name").alias("op")).from_changelog())
