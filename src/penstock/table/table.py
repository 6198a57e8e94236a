"""Table: a query that has not run yet; every method describes one more step of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.columns.typed.nodes import TimeAttribute
from penstock.common.errors import ProgramError
from penstock.table.catalog.columns import column_of_a_query
from penstock.table.catalog.resolved_schema import ResolvedSchema
from penstock.table.expression import Expression
from penstock.table.fluent.literals import node_of
from penstock.table.grouped_tables import (
    AggregatedTable,
    FlatAggregateTable,
    GroupedTable,
    GroupWindowedTable,
    OverWindowedTable,
    WindowGroupedTable,
)
from penstock.table.logical import builder, function_calls, table_calls
from penstock.table.logical.changelog_functions import arguments_of, changelog_function
from penstock.table.logical.nodes import Field, Limit, Relation
from penstock.table.resolution.python_calls import with_functions
from penstock.table.session.explanation import explanation
from penstock.table.syntax import expressions as syntax
from penstock.table.table_descriptor import TableDescriptor
from penstock.table.table_pipeline import TablePipeline
from penstock.table.table_result import TableResult
from penstock.table.table_schema import TableSchema
from penstock.table.temporal_table_function import TemporalTableFunction
from penstock.table.window import GroupWindow, OverWindow

if TYPE_CHECKING:
    import pandas

    from penstock.table.table_environment import TableEnvironment

__all__ = [
    "AggregatedTable",
    "FlatAggregateTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "Table",
    "WindowGroupedTable",
]


class Table:
    """A table of a TableEnvironment::

        orders.group_by(col("user")).select(col("user"), col("amount").sum.alias("total")).execute().print()

    ``str(table)`` is a name that can stand in SQL: ``t_env.sql_query(f"SELECT * FROM {table}")``.
    """

    def __init__(self, j_table: Relation, t_env: TableEnvironment) -> None:
        self._relation = j_table
        self._t_env = t_env
        self._name: str | None = None

    def _with(self, relation: Relation) -> Table:
        return Table(relation, self._t_env)

    def _node(self, expression: Any) -> syntax.Expr:
        """What an expression says, with the functions that its names stand for here."""
        if isinstance(expression, str):
            raise ProgramError(f"Columns are given as expressions: col({expression!r}).")
        found: syntax.Expr = with_functions(node_of(expression), self._t_env._session.catalogs.find_function)
        return found

    def _nodes(self, fields: Sequence[Any]) -> list[syntax.Expr]:
        return [self._node(field) for field in fields]

    # Columns and rows

    def select(self, *fields: Expression[Any]) -> Table:
        return self._with(table_calls.select(self._relation, self._nodes(fields)))

    def alias(self, field: str, *fields: str) -> Table:
        names = [field, *fields]
        kept = self._relation.names[len(names) :]
        return self._with(builder.renamed(self._relation, [*names, *kept]))

    def filter(self, predicate: Expression[bool]) -> Table:
        return self.where(predicate)

    def where(self, predicate: Expression[bool]) -> Table:
        return self._with(table_calls.where(self._relation, self._node(predicate)))

    def add_columns(self, *fields: Expression[Any]) -> Table:
        return self._with(table_calls.add_columns(self._relation, self._nodes(fields)))

    def add_or_replace_columns(self, *fields: Expression[Any]) -> Table:
        return self._with(table_calls.add_columns(self._relation, self._nodes(fields), replace=True))

    def rename_columns(self, *fields: Expression[Any]) -> Table:
        return self._with(table_calls.rename_columns(self._relation, self._nodes(fields)))

    def drop_columns(self, *fields: Expression[Any]) -> Table:
        return self._with(table_calls.drop_columns(self._relation, self._nodes(fields)))

    def distinct(self) -> Table:
        return self._with(builder.distinct(self._relation))

    # Groups and windows

    def group_by(self, *fields: Expression[Any]) -> GroupedTable:
        relation, keys = table_calls.with_named_keys(self._relation, self._nodes(fields))
        return GroupedTable(self._with(relation), keys)

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        return OverWindowedTable(self, over_windows)

    # Several tables

    def join(self, right: Table, join_predicate: Expression[bool] | None = None) -> Table:
        return self._joined(right, join_predicate, "INNER")

    def left_outer_join(self, right: Table, join_predicate: Expression[bool] | None = None) -> Table:
        return self._joined(right, join_predicate, "LEFT")

    def right_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        return self._joined(right, join_predicate, "RIGHT")

    def full_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        return self._joined(right, join_predicate, "FULL")

    def _joined(self, right: Table, predicate: Expression[bool] | None, kind: str) -> Table:
        self._same_environment(right)
        condition = None if predicate is None else self._node(predicate)
        return self._with(table_calls.join(self._relation, right._relation, condition, kind))

    def join_lateral(self, table_function_call: Any, join_predicate: Expression[bool] | None = None) -> Table:
        """Each row with the rows that a table function gives for it."""
        return self._lateral(table_function_call, join_predicate, "INNER")

    def left_outer_join_lateral(
        self, table_function_call: Any, join_predicate: Expression[bool] | None = None
    ) -> Table:
        """The same; a row for which the function gives nothing stays, with nulls."""
        return self._lateral(table_function_call, join_predicate, "LEFT")

    def _lateral(self, called: Any, predicate: Expression[bool] | None, kind: str) -> Table:
        condition = None if predicate is None else self._node(predicate)
        return self._with(function_calls.lateral_join(self._relation, self._called(called), kind, condition))

    def _called(self, given: Any) -> syntax.Expr:
        """A call, or a function that gets the whole row."""
        return self._node(given._set_takes_row_as_input()() if hasattr(given, "_set_takes_row_as_input") else given)

    def create_temporal_table_function(
        self, time_attribute: Expression[Any], primary_key: Expression[Any]
    ) -> TemporalTableFunction:
        """The rows of this table as versions of those with the same key, for ``LATERAL TABLE(f(o.ts))``."""
        return TemporalTableFunction(self._relation, time_attribute, primary_key)

    def minus(self, right: Table) -> Table:
        return self._united(right, "EXCEPT", False)

    def minus_all(self, right: Table) -> Table:
        return self._united(right, "EXCEPT", True)

    def union(self, right: Table) -> Table:
        return self._united(right, "UNION", False)

    def union_all(self, right: Table) -> Table:
        return self._united(right, "UNION", True)

    def intersect(self, right: Table) -> Table:
        return self._united(right, "INTERSECT", False)

    def intersect_all(self, right: Table) -> Table:
        return self._united(right, "INTERSECT", True)

    def _united(self, right: Table, kind: str, keep_all: bool) -> Table:
        self._same_environment(right)
        return self._with(builder.united(kind, keep_all, self._relation, right._relation))

    def _same_environment(self, other: Table) -> None:
        if other._t_env is not self._t_env:
            raise ProgramError("Only tables of one TableEnvironment can be combined.")

    # Order and limit

    def order_by(self, *fields: Expression[Any]) -> Table:
        return self._with(table_calls.order_by(self._relation, self._nodes(fields)))

    def offset(self, offset: int) -> Table:
        return self._with(builder.limited(self._relation, offset, None))

    def fetch(self, fetch: int) -> Table:
        if fetch < 0:
            raise ProgramError(f"fetch() takes a number of rows, not {fetch}.")
        if isinstance(self._relation, Limit) and self._relation.count is None:
            return self._with(builder.limited(self._relation.source, self._relation.offset, fetch))
        return self._with(builder.limited(self._relation, 0, fetch))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        return self.offset(offset).fetch(fetch)

    # Python functions

    def map(self, func: Any) -> Table:
        """A scalar function of each row; a ROW that it gives becomes the columns."""
        return self._with(function_calls.mapped(self._relation, self._called(func)))

    def flat_map(self, func: Any) -> Table:
        """The rows that a table function gives for each row."""
        return self._with(function_calls.flat_mapped(self._relation, self._called(func)))

    def aggregate(self, func: Any) -> AggregatedTable:
        return AggregatedTable(self, ([], self._called(func)))

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        return FlatAggregateTable(self, ([], self._called(func)))

    def to_changelog(self, *arguments: Expression[Any]) -> Table:
        """Changes as rows, with a column for their kind: ``to_changelog(descriptor("kind").as_argument("op"))``."""
        return self._changelog("TO_CHANGELOG", arguments)

    def from_changelog(self, *arguments: Expression[Any]) -> Table:
        """Rows as changes, of the kind that the column ``op`` names."""
        return self._changelog("FROM_CHANGELOG", arguments)

    def _changelog(self, function: str, arguments: Sequence[Expression[Any]]) -> Table:
        given = arguments_of(syntax.Call(function, tuple(self._nodes(arguments))), ("op", "op_mapping"))
        return self._with(changelog_function(function, self._relation, (), given, None))

    # Results

    def to_pandas(self) -> pandas.DataFrame:
        """Runs the query, which has to end, and returns the final rows."""
        from penstock.table.session.final_rows import final_frame

        return final_frame(self.execute(), self._t_env._session.session.zone)

    def get_schema(self) -> TableSchema:
        fields = self._relation.fields
        return TableSchema([field.name for field in fields], [field.data_type for field in fields])

    def get_resolved_schema(self) -> ResolvedSchema:
        return ResolvedSchema(
            [
                column_of_a_query(field.name, field.data_type, None if field.time is None else field.time.value)
                for field in self._shown_fields()
            ]
        )

    def print_schema(self) -> None:
        parts = [f"  `{field.name}` {field.shown_type()}" for field in self._shown_fields()]
        print("(\n{}\n)".format(",\n".join(parts)))

    def _shown_fields(self) -> list[Field]:
        """A batch program has no event time: there Flink shows a column of time as any other."""
        hidden = TimeAttribute.ROWTIME if self._t_env._session.batch else None
        return [replace(field, time=None) if field.time is hidden else field for field in self._relation.fields]

    def execute_insert(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TableResult:
        """Writes the rows into a table; returns at once."""
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def execute(self) -> TableResult:
        """Runs the query."""
        return self._t_env._session.collect(self._relation)

    def explain(self, *extra_details: int) -> str:
        return explanation([self._relation], self._t_env._session, extra_details)

    def print_explain(self, *extra_details: int) -> None:
        print(self.explain(*extra_details))

    def insert_into(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TablePipeline:
        return TablePipeline(self._t_env._sink_into(self, table_path_or_descriptor, overwrite), self._t_env)

    def __str__(self) -> str:
        if self._name is None:
            self._name = self._t_env._register_inline(self)
        return self._name
