"""Runs a query on the local engine over tables of rows, each with its changelog; results as pairs of kind and tuple."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.columns.kernels.datum import Session
from penstock.columns.typesystem.base import DataType
from penstock.common.types import Row, RowKind
from penstock.connectors.table_rows import TableRowsSource
from penstock.datastream import StreamExecutionEnvironment
from penstock.runtime.table.codec import TableCodec
from penstock.table.logical import nodes as plan
from penstock.table.logical.planning import plan_sql
from penstock.table.logical.rewrites import rewritten
from penstock.table.logical.tables import MemoryTables, TableDefinition
from penstock.table.physical import ends
from penstock.table.physical.planner import Planner
from penstock.table.physical.table_stream import TableStream, row_type_of

Change = tuple[str, tuple[Any, ...]]
KINDS = ("+I", "-U", "+U", "-D")


@dataclass(frozen=True)
class Rows:
    """A table: its columns, and the changes that reading it gives."""

    columns: tuple[tuple[str, DataType], ...]
    changes: tuple[Change, ...]
    primary_key: tuple[str, ...] = ()
    upserts: bool = False

    def scan(self, relation: plan.Scan, planner: Planner) -> TableStream:
        row_type = row_type_of(relation.fields)
        rows = [Row.of_kind(RowKind(KINDS.index(kind)), *values) for kind, values in self.changes]
        return planner.source(relation, "Rows", TableRowsSource(row_type, TableCodec(row_type).encode(rows)))

    def definition(self) -> TableDefinition:
        kinds = {"I" if kind == "+I" else "D" if kind == "-D" else "U" for kind, _ in self.changes}
        fields = tuple(plan.Field(name, data_type) for name, data_type in self.columns)
        return TableDefinition(
            fields,
            primary_key=self.primary_key,
            changelog="".join(sorted(kinds | {"I"})),
            handle=self,
            upserts=self.upserts,
        )


def rows(columns: Mapping[str, DataType], *values: Sequence[Any]) -> Rows:
    """A table of insertions."""
    return Rows(tuple(columns.items()), tuple(("+I", tuple(row)) for row in values))


def plan_of(sql: str, tables: Mapping[str, Rows]) -> plan.Relation:
    known = MemoryTables({name: table.definition() for name, table in tables.items()})
    return rewritten(plan_sql(sql, known))


def changelog_of(
    env: StreamExecutionEnvironment, sql: str, tables: Mapping[str, Rows], batch: bool = False
) -> list[Change]:
    relation = plan_of(sql, tables)
    planner = Planner(env, Session(), env._configuration, batch)
    node = ends.collected(planner.plan(relation), relation, planner)
    codec = TableCodec(row_type_of(relation.fields))
    job = env._submit_ends("sql", (node,))
    found = [row for columns in job.collected(node) for row in codec.decode(columns)]
    return [(KINDS[row.get_row_kind().value], tuple(row._values)) for row in found]
