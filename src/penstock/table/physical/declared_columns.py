"""What a table declares beside the columns that it stores: computed columns and watermarks, after any source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Invoke
from penstock.common.option_values import parse_duration
from penstock.runtime.table.calc import CalcParams, Compute
from penstock.runtime.table.watermarks import WatermarkParams
from penstock.table.logical import nodes as plan
from penstock.table.logical.resolved_table import ResolvedTable
from penstock.table.physical.table_stream import TableStream

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def with_declared_columns(
    relation: plan.Relation, stream: TableStream, table: ResolvedTable, planner: Planner
) -> TableStream:
    """All columns of the table, with its watermarks."""
    if table.computes:
        params = CalcParams(stream.row_type, (Compute(table.expressions),), planner.session)
        stream = planner.operator(relation, "table_calc", [stream], {"calc": params}, name="Calc")
    if table.watermark is None or _is_source_watermark(table) or planner.batch:
        return stream  # in a batch no row is late: time passes when all have come
    place, expression = table.watermark
    watermark = WatermarkParams(
        stream.row_type,
        place,
        expression,
        planner.session,
        planner.env.get_config().get_auto_watermark_interval(),
        parse_duration(str(planner.options.get_string("table.exec.source.idle-timeout", "0 ms"))),
        planner.shows_watermarks,
    )
    return planner.operator(relation, "table_watermarks", [stream], {"watermark": watermark}, name="WatermarkAssigner")


def _is_source_watermark(table: ResolvedTable) -> bool:
    """WATERMARK FOR ts AS SOURCE_WATERMARK(): those of the stream are kept."""
    assert table.watermark is not None
    node = table.watermark[1]
    return isinstance(node, Invoke) and node.function == "SOURCE_WATERMARK"
