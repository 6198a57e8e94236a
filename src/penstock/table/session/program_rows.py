"""Rows of the program as tables: from_elements and from_pandas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.columns.kernels.casting import cast
from penstock.columns.typesystem.arrow_mapping import from_arrow_type, to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowField, RowType
from penstock.columns.typesystem.python_values import infer_schema
from penstock.common.errors import ProgramError
from penstock.connectors.table_rows import TableRowsSource
from penstock.runtime.batch import KIND
from penstock.runtime.table.codec import TableCodec
from penstock.table.logical.nodes import Field, Relation, Scan
from penstock.table.logical.tables import TableDefinition
from penstock.table.physical.table_stream import TableStream, row_type_of
from penstock.table.session.table_session import TableSession

if TYPE_CHECKING:
    import pandas

    from penstock.table.physical.planner import Planner


@dataclass(frozen=True, eq=False)
class ProgramRows:
    """The handle of a table whose rows the program has."""

    columns: pa.RecordBatch

    @property
    def changelog(self) -> str:
        return "IUD" if KIND in self.columns.schema.names else "I"

    def scan(self, relation: Scan, planner: Planner) -> TableStream:
        return planner.source(relation, "Rows", TableRowsSource(row_type_of(relation.fields), self.columns))


def relation_of_elements(
    elements: list[Any], schema: DataType | list[str] | None, session: TableSession, verify: bool
) -> Relation:
    if isinstance(schema, RowType):
        row_type = schema
    elif isinstance(schema, DataType):
        row_type = RowType([RowField("value", schema)])
        elements = [(element,) for element in elements]
    else:
        row_type = infer_schema(elements, None if schema is None else list(schema))
        if schema is not None:
            names = [*schema, *row_type.field_names()[len(schema) :]]
            row_type = RowType([RowField(n, f.data_type) for n, f in zip(names, row_type.fields, strict=True)])
    fields = tuple(Field(field.name, field.data_type) for field in row_type.fields)
    codec = TableCodec(row_type_of(fields))
    return _scan(fields, codec.encode([_row(element, row_type) for element in elements]), session)


def _row(element: Any, row_type: RowType) -> Any:
    from penstock.common.types import Row

    values = row_type.values_of(element)
    if len(values) != len(row_type):
        raise ProgramError(f"{element!r} has {len(values)} fields, but the schema has {len(row_type)}.")
    kind = element._row_kind if isinstance(element, Row) else None
    row = Row(*values)
    if kind is not None:
        row.set_row_kind(kind)
    return row


def _scan(fields: tuple[Field, ...], columns: pa.RecordBatch, session: TableSession) -> Relation:
    handle = ProgramRows(columns)
    definition = TableDefinition(fields, changelog=handle.changelog, handle=handle)
    return Scan(fields, (session.anonymous_name(),), definition)


def relation_of_frame(pdf: pandas.DataFrame, schema: Any, session: TableSession) -> Relation:
    table = pa.Table.from_pandas(pdf, preserve_index=False).combine_chunks()
    names, types = list(table.column_names), [from_arrow_type(field.type) for field in table.schema]
    if isinstance(schema, RowType):
        names, types = schema.field_names(), schema.field_types()
    elif schema is not None and all(isinstance(item, str) for item in schema):
        names = list(schema)
    elif schema is not None:
        types = list(schema)
    if len(names) != table.num_columns or len(types) != table.num_columns:
        raise ProgramError(f"The DataFrame has {table.num_columns} columns, but the schema has {len(names)}.")
    fields = tuple(Field(str(name), kind) for name, kind in zip(names, types, strict=True))
    arrays = [_converted(table.column(place), field, session) for place, field in enumerate(fields)]
    batch = TableCodec(row_type_of(fields)).batch(arrays, rows=table.num_rows)
    return _scan(fields, batch.columns, session)


def _converted(column: pa.ChunkedArray, field: Field, session: TableSession) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    wanted = to_arrow_type(field.data_type)
    if pa.types.is_timestamp(array.type) and array.type.tz:
        array = array.cast(pa.timestamp(array.type.unit))
    if array.type == wanted:
        return array
    try:
        return array.cast(wanted)
    except pa.ArrowException:
        return cast(array, from_arrow_type(array.type), field.data_type, session.session, False)
