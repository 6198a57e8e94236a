"""Tables between two steps: grouped, windowed, with OVER windows; ``select()`` makes tables of them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.table.expression import Expression
from penstock.table.fluent.literals import node_of
from penstock.table.logical import function_calls, table_calls, table_windows
from penstock.table.syntax import expressions as syntax
from penstock.table.window import GroupWindow, OverWindow

if TYPE_CHECKING:
    from penstock.table.table import Table


class GroupedTable:
    """``table.group_by(..)``."""

    def __init__(self, java_table: Table, t_env: Sequence[syntax.Expr]) -> None:
        self._table = java_table
        self._keys = list(t_env)

    def select(self, *fields: Expression[Any]) -> Table:
        relation = table_calls.select(self._table._relation, self._table._nodes(fields), self._keys)
        return self._table._with(relation)

    def aggregate(self, func: Any) -> AggregatedTable:
        """An aggregate function whose ROW becomes columns, to be selected beside the keys."""
        return AggregatedTable(self._table, (self._keys, self._table._called(func)))

    def flat_aggregate(self, func: Any) -> FlatAggregateTable:
        """The rows that a table aggregate function gives for each group."""
        return FlatAggregateTable(self._table, (self._keys, self._table._called(func)))


class GroupWindowedTable:
    """``table.window(..)``; it has to be grouped by the window's alias."""

    def __init__(self, java_group_windowed_table: Table, t_env: GroupWindow) -> None:
        self._table = java_group_windowed_table
        self._window = t_env

    def group_by(self, *fields: Expression[Any]) -> WindowGroupedTable:
        keys = [node_of(field) for field in fields]
        relation, named = table_calls.with_named_keys(self._table._relation, keys)
        return WindowGroupedTable((self._table._with(relation), self._window), named)


class WindowGroupedTable:
    """``table.window(..).group_by(..)``."""

    def __init__(self, java_window_grouped_table: tuple[Table, GroupWindow], t_env: Sequence[syntax.Expr]) -> None:
        self._table, self._window = java_window_grouped_table
        self._keys = list(t_env)

    def select(self, *fields: Expression[Any]) -> Table:
        nodes = self._table._nodes(fields)
        relation = table_windows.select(self._table._relation, self._window._spec, self._keys, nodes)
        return self._table._with(relation)

    def aggregate(self, func: Any) -> AggregatedTable:
        """An aggregate function whose ROW becomes columns, to be selected beside the keys and the window."""
        call = self._table._called(func)
        return _WindowAggregatedTable(self._table, (self._keys, call), self._window._spec)


class OverWindowedTable:
    """``table.over_window(..)``."""

    def __init__(self, java_over_windowed_table: Table, t_env: Sequence[OverWindow]) -> None:
        self._table = java_over_windowed_table
        self._windows = tuple(t_env)

    def select(self, *fields: Expression[Any]) -> Table:
        windows = {window._alias: window._spec for window in self._windows}
        nodes = self._table._nodes(fields)
        return self._table._with(table_windows.select_over(self._table._relation, windows, nodes))


class AggregatedTable:
    """``table.group_by(..).aggregate(..)``."""

    def __init__(self, java_table: Table, t_env: tuple[Sequence[syntax.Expr], syntax.Expr]) -> None:
        self._table = java_table
        self._keys, self._call = t_env

    def select(self, *fields: Expression[Any]) -> Table:
        grouped = function_calls.aggregated(self._table._relation, self._keys, self._call)
        return self._table._with(grouped).select(*fields)


class _WindowAggregatedTable(AggregatedTable):
    """``table.window(..).group_by(..).aggregate(..)``."""

    def __init__(
        self, java_table: Table, t_env: tuple[Sequence[syntax.Expr], syntax.Expr], window: table_windows.GroupWindowSpec
    ) -> None:
        super().__init__(java_table, t_env)
        self._window = window

    def select(self, *fields: Expression[Any]) -> Table:
        relation = table_windows.select_aggregated(
            self._table._relation, self._window, self._keys, self._call, self._table._nodes(fields)
        )
        return self._table._with(relation)


class FlatAggregateTable:
    """``table.group_by(..).flat_aggregate(..)``."""

    def __init__(self, java_table: Table, t_env: tuple[Sequence[syntax.Expr], syntax.Expr]) -> None:
        self._table = java_table
        self._keys, self._call = t_env

    def select(self, *fields: Expression[Any]) -> Table:
        grouped = function_calls.flat_aggregated(self._table._relation, self._keys, self._call)
        return self._table._with(grouped).select(*fields)
