"""Where plans begin and end: rows of the program, tables of connectors, results for the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.columns.typed.evaluation import project
from penstock.common.errors import NotSupportedError
from penstock.connectors.table_rows import TableCollectSink, TableRowsSource
from penstock.graph.transformation import Node
from penstock.runtime.table.codec import TableCodec
from penstock.table.logical import nodes as plan
from penstock.table.physical.table_stream import TableStream, row_type_of

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def values(relation: plan.Values, planner: Planner) -> TableStream:
    """Rows of constants are computed here, once."""
    row_type = row_type_of(relation.fields)
    rows = [project(row, (), 1, planner.session) for row in relation.rows]
    codec = TableCodec(row_type)
    columns = [pa.concat_arrays([row[place] for row in rows]) for place in range(len(row_type))]
    batch = codec.batch(columns, rows=len(rows))
    return planner.source(relation, "Values", TableRowsSource(row_type, batch.columns))


def scan(relation: plan.Scan, planner: Planner) -> TableStream:
    """A table of the catalog: its handle knows where rows come from."""
    handle = relation.definition.handle if relation.definition is not None else None
    if handle is None:
        raise NotSupportedError(f"The table {'.'.join(relation.path)} cannot be read: it has no connector.")
    found: TableStream = handle.scan(relation, planner)
    return found


def collected(table: TableStream, relation: plan.Relation, planner: Planner) -> Node:
    """The end that hands the rows to the program; beside a single operator, so that its order holds."""
    node = planner.sink(table, relation, "Collect table sink", TableCollectSink())
    if len(table.stream._upstreams) > 1:
        node.parallelism = 1
    return node
