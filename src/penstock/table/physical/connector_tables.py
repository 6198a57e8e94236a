"""Tables of connectors in a plan: reading with computed columns and watermarks, writing with checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.common.errors import ProgramError
from penstock.graph.transformation import Node
from penstock.runtime.table.not_null import NotNullParams
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink
from penstock.table.connectors.registry import connector_of
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import INSERTS
from penstock.table.logical.explain import line_of
from penstock.table.logical.resolved_table import ResolvedTable
from penstock.table.physical.declared_columns import with_declared_columns
from penstock.table.physical.table_stream import TableStream
from penstock.table.sql.errors import SqlValidationError

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner

_NAMES = {"I": "inserts", "U": "updates", "D": "deletions"}


@dataclass(frozen=True)
class ConnectorHandle:
    """What a Scan or Sink of a connector's table carries: how it was declared."""

    path: tuple[str, ...]
    table: ResolvedTable
    options: Mapping[str, str]
    partition_keys: tuple[str, ...] = ()

    def scan(self, relation: plan.Scan, planner: Planner) -> TableStream:
        hints = {key: value for hint in relation.hints if hint.name == "OPTIONS" for key, value in hint.pairs}
        connector, table = self._opened(planner, {**self.options, **hints})
        found = connector.source(table)
        stream = planner.source(relation, found.name, found.source, fields=self.table.stored)
        if found.parallelism is not None:
            stream.stream._nodes[0].parallelism = found.parallelism
        stream = replace(stream, before=found.before)
        return replace(with_declared_columns(relation, stream, self.table, planner), before=found.before)

    def sink(self, relation: plan.Sink, table: TableStream, planner: Planner) -> Node:
        connector, target = self._opened(planner, self.options, relation)
        found = connector.sink(target)
        self._check_kinds(found, table, relation)
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
        node = planner.sink(table, relation, found.name, found.sink)
        if found.parallelism is not None:
            node.parallelism = found.parallelism
        return node

    def _check_kinds(self, sink: TableSink, table: TableStream, relation: plan.Sink) -> None:
        refused = table.kinds - INSERTS - frozenset(sink.accepts)
        if refused:
            what = " and ".join(_NAMES[kind] for kind in "UD" if kind in refused)
            raise SqlValidationError(
                f"The sink {'.'.join(self.path)} does not take {what}, which the query gives:"
                f" {line_of(relation.source)}. Use a sink that does, or a query that only adds rows.",
                relation.position,
            )

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
        )
        connector.check(table)
        if table.overwrite and not connector.overwrites:
            raise ProgramError(f"INSERT OVERWRITE: the connector '{connector.name}' of {table.name} cannot overwrite.")
        return connector, table
