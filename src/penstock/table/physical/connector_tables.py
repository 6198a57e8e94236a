"""Tables of connectors in a plan: reading with computed columns and watermarks, writing with checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Typed
from penstock.common.errors import ProgramError
from penstock.connectors.base import SupportsPreprocessing
from penstock.functions.lookup import LookupFunction
from penstock.graph.transformation import Node
from penstock.runtime.table.lookup_cache import CacheSettings
from penstock.runtime.table.not_null import NotNullParams
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.streams import StreamToTableParams, TableToStreamParams
from penstock.runtime.table.whole_table import Reloads
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink
from penstock.table.connectors.registry import CONNECTORS, connector_of
from penstock.table.logical import nodes as plan
from penstock.table.logical.nodes import Fields
from penstock.table.logical.resolved_table import ResolvedTable
from penstock.table.physical.declared_columns import with_declared_columns
from penstock.table.physical.table_stream import TableStream, common_parallelism, exchanged
from penstock.table.syntax.queries import Hint

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


@dataclass(frozen=True)
class LookupTable:
    """A table outside for a lookup join: rows of `row_type`, of which `computed` makes those of the table."""

    function: LookupFunction
    row_type: TableRowType
    cache: CacheSettings | Reloads | None
    computed: tuple[Typed, ...] | None


@dataclass(frozen=True)
class ConnectorHandle:
    """What a Scan or Sink of a connector's table carries: how it was declared."""

    path: tuple[str, ...]
    table: ResolvedTable
    options: Mapping[str, str]
    partition_keys: tuple[str, ...] = ()
    declared: Fields | None = None  # all physical columns, where the table has only some of them

    def scan(self, relation: plan.Scan, planner: Planner) -> TableStream:
        connector, table = self._opened(planner, self._hinted(relation))
        found = connector.source(table)
        stream = planner.source(relation, found.name, found.source, fields=self.table.stored)
        source = stream.stream._nodes[0]
        if found.parallelism is not None:
            source.parallelism = found.parallelism
        if found.stream_type is not None:
            source.output_type = found.stream_type
            params = StreamToTableParams(
                stream.row_type, tuple(range(len(stream.fields))), connector.changelog(table) != "I"
            )
            stream = planner.operator(
                relation, "stream_to_table", [stream], {"columns": params}, fields=self.table.stored, name="ToTable"
            )
        return with_declared_columns(relation, stream, self.table, planner)

    def narrowed(self, names: list[str], hints: tuple[Hint, ...]) -> ConnectorHandle | None:
        """The table with these columns only; None when the connector reads all of them anyway."""
        if self.options.get("connector") not in CONNECTORS:
            return None
        options = {**self.options, **_options_of(hints)}
        if not connector_of(self.path, options).reads_some_columns(options):
            return None
        return replace(self, table=self.table.narrowed(names), declared=self.declared or self.table.physical)

    @property
    def looks_up(self) -> bool:
        return self.options.get("connector") in CONNECTORS and connector_of(self.path, self.options).looks_up

    @property
    def lookup_names(self) -> tuple[str, ...]:
        """The columns that rows can be found by."""
        if connector_of(self.path, self.options).looks_up_primary_keys:
            return self.table.primary_key
        return tuple(field.name for field in self.table.stored)

    def lookup(self, relation: plan.Scan, key: list[str], planner: Planner) -> LookupTable:
        """How rows are found by these columns."""
        connector, table = self._opened(planner, self._hinted(relation))
        found = connector.lookup(table, key)
        computed = self.table.expressions if self.table.computes else None
        return LookupTable(found.function, table.row_type, found.cache, computed)

    def _hinted(self, relation: plan.Scan) -> dict[str, str]:
        return {**self.options, **_options_of(relation.hints)}

    def sink(self, relation: plan.Sink, table: TableStream, planner: Planner) -> Node:
        connector, target = self._opened(planner, {**self.options, **dict(relation.options)}, relation)
        found = connector.sink(target)
        needing = tuple(
            place
            for place, (ours, theirs) in enumerate(zip(table.fields, relation.fields, strict=True))
            if ours.data_type.is_nullable and not theirs.data_type.is_nullable
        )
        if needing:
            drop = planner.options.get_string("table.exec.sink.not-null-enforcer", "ERROR").upper() == "DROP"
            params = NotNullParams(table.row_type, needing, drop)
            table = planner.operator(
                relation, "table_not_null", [table], {"not_null": params}, name="ConstraintEnforcer"
            )
        key = _exchanged_key(connector, target, table, found)
        if found.stream_type is not None:
            made = planner.operator(
                relation,
                "table_to_stream",
                [table],
                {"rows": TableToStreamParams(table.row_type)},
                keys=None if key is None else [key],
                parallelism=None if key is None else found.parallelism,
                name="ToRows",
            )
            made.stream._nodes[0].output_type = made.stream._type_info = found.stream_type
            table = made
        elif key is not None:
            table = replace(table, stream=exchanged(table, key))
        node = planner.sink(table, relation, found.name, found.sink)
        if found.parallelism is not None:
            node.parallelism = found.parallelism
        return node

    def _opened(
        self, planner: Planner, options: Mapping[str, str], sink: plan.Sink | None = None
    ) -> tuple[TableConnector, ConnectorTable]:
        connector = connector_of(self.path, options)
        table = ConnectorTable(
            self.path,
            self.table.stored if sink is None else self.table.written,
            options,
            self.table.primary_key,
            self.partition_keys,
            tuple(pair for pair in self.table.metadata if sink is None or pair[0] not in self.table.virtual),
            planner.session,
            planner.batch,
            sink is not None and sink.overwrite,
            sink.static_partition if sink is not None else (),
            self.declared,
        )
        connector.check(table)
        if table.overwrite and not connector.overwrites:
            raise ProgramError(f"INSERT OVERWRITE: the connector '{connector.name}' of {table.name} cannot overwrite.")
        return connector, table


def _exchanged_key(
    connector: TableConnector, target: ConnectorTable, table: TableStream, found: TableSink
) -> list[int] | None:
    """The columns by which changes find their writer, if writers are more or fewer than the subtasks before them."""
    if found.parallelism in (None, 1, common_parallelism(table.stream._upstreams)):
        return None
    if isinstance(found.sink, SupportsPreprocessing) or not (table.updating or connector.by_key(target)):
        return None
    if not target.primary_key:
        raise ProgramError(
            f"'sink.parallelism' = '{found.parallelism}' of {target.name} is not that of its rows, which are updated or"
            " deleted: their changes would lose their order. Declare a PRIMARY KEY, or leave the option out."
        )
    names = [field.name for field in target.fields]
    return [names.index(name) for name in target.primary_key]


def _options_of(hints: tuple[Hint, ...]) -> dict[str, str]:
    return {key: value for hint in hints if hint.name == "OPTIONS" for key, value in hint.pairs}
