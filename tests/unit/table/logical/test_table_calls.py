"""The Table API's methods make the plans that SQL makes."""

from __future__ import annotations

import pytest
from tests.unit.table.sample_tables import TABLES

from penstock.table.expressions import col, range_, with_all_columns, with_columns, without_columns
from penstock.table.logical import table_calls
from penstock.table.logical.explain import explain, schema_text
from penstock.table.logical.nodes import Relation
from penstock.table.logical.planning import plan_sql
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax.expressions import Expr


def nodes(*expressions: object) -> list[Expr]:
    return [expression._node for expression in expressions]  # type: ignore[attr-defined]


@pytest.fixture
def orders() -> Relation:
    return plan_sql("SELECT * FROM orders", TABLES)


def test_projection_and_filter_are_those_of_sql(orders: Relation) -> None:
    filtered = table_calls.where(orders, (col("amount") > 10)._node)
    made = table_calls.select(filtered, nodes(col("id"), (col("amount") * 2).alias("double")))
    assert made == plan_sql("SELECT id, amount * 2 AS `double` FROM orders WHERE amount > 10", TABLES)


def test_groups_are_those_of_sql(orders: Relation) -> None:
    chosen = nodes(col("uname"), col("amount").sum.alias("s"), col("id").count.distinct.alias("c"))
    made = table_calls.select(orders, chosen, nodes(col("uname")))
    sql = "SELECT uname, SUM(amount) AS s, COUNT(DISTINCT id) AS c FROM orders GROUP BY uname"
    assert explain(made) == explain(plan_sql(sql, TABLES))
    with pytest.raises(SqlValidationError, match="'id' is neither in GROUP BY"):
        table_calls.select(orders, nodes(col("id")), nodes(col("uname")))


def test_columns_can_be_spread_added_dropped_and_renamed(orders: Relation) -> None:
    def names(relation: Relation) -> list[str]:
        return list(relation.names)

    assert names(table_calls.select(orders, nodes(with_all_columns()))) == names(orders)
    assert names(table_calls.select(orders, nodes(with_columns(range_("uname", "item"))))) == [
        "uname",
        "amount",
        "item",
    ]
    assert names(table_calls.select(orders, nodes(without_columns(range_(2, 6))))) == ["id"]
    assert names(table_calls.select(orders, nodes(col("id") + 1, col("id")))) == ["_c0", "id"]
    added = table_calls.add_columns(orders, nodes((col("id") + 1).alias("next")))
    assert names(added)[-1] == "next"
    with pytest.raises(SqlValidationError, match="'id' already"):
        table_calls.add_columns(orders, nodes(col("amount").alias("id")))
    replaced = table_calls.add_columns(orders, nodes(col("amount").alias("id")), replace=True)
    assert schema_text(replaced).startswith("(id DECIMAL(10, 2), uname")
    assert names(table_calls.drop_columns(orders, nodes(col("ts"), col("proc")))) == ["id", "uname", "amount", "item"]
    assert names(table_calls.rename_columns(orders, nodes(col("id").alias("key"))))[0] == "key"
    with pytest.raises(SqlValidationError, match="no column 'idd'. Did you mean 'id'"):
        table_calls.drop_columns(orders, nodes(col("idd")))


def test_joins_need_different_names(orders: Relation) -> None:
    users = plan_sql("SELECT uid, city FROM users", TABLES)
    made = table_calls.join(orders, users, (col("id") == col("uid"))._node, "LEFT")
    assert explain(made).splitlines()[0] == "Join(type=LEFT, where=[(id = uid)])"
    with pytest.raises(SqlValidationError, match="Both tables have columns 'id'"):
        table_calls.join(orders, orders, None)


def test_order(orders: Relation) -> None:
    made = table_calls.order_by(orders, nodes(col("ts").asc, col("id").desc))
    assert explain(made).splitlines()[0] == "Sort(orderBy=[ts ASC, id DESC])"


def test_flatten_gives_the_fields_of_a_row() -> None:
    source = plan_sql("SELECT 1 AS id, CAST(ROW(2, 'x') AS ROW<a INT, b STRING>) AS r", TABLES)
    made = table_calls.select(source, nodes(col("id").flatten, col("r").flatten))
    assert made == table_calls.select(
        source, nodes(col("id"), col("r").get("a").alias("r$a"), col("r").get("b").alias("r$b"))
    )
