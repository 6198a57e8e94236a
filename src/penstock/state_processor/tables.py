"""Rows of state as Arrow batches, and the same types in Spark's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from penstock.common.types import Row
from penstock.functions.window_types import TimeWindow

SAMPLE_ROWS = 1000
_ROWS_PER_BATCH = 10_000


def schema_of(rows: Sequence[Any], columns: Sequence[str], maps: bool, for_spark: bool = False) -> pa.Schema:
    """The types that all the rows have."""
    fields = []
    for position, name in enumerate(columns):
        values = [plain(row[position]) for row in rows]
        arrow_type = pa.array(values).type
        if maps and name in ("value", "expires") and pa.types.is_list(arrow_type):
            entry = arrow_type.value_type
            arrow_type = pa.map_(entry.field("key").type, entry.field("value").type)
        fields.append(pa.field(name, _for_spark(arrow_type) if for_spark else arrow_type))
    return pa.schema(fields)


def batches_of(rows: Iterable[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, _ROWS_PER_BATCH)):
        arrays = []
        for position, field in enumerate(schema):
            values = [plain(row[position]) for row in chunk]
            if pa.types.is_map(field.type):
                values = [None if value is None else [(e["key"], e["value"]) for e in value] for value in values]
            arrays.append(pa.array(values, field.type))
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def plain(value: Any) -> Any:
    """Builtin values that Arrow knows how to hold."""
    match value:
        case Row():
            names = value._fields or [f"f{i}" for i in range(len(value))]
            return {name: plain(item) for name, item in zip(names, value, strict=True)}
        case tuple():
            return {f"f{i}": plain(item) for i, item in enumerate(value)}
        case dict():
            return [{"key": plain(key), "value": plain(item)} for key, item in value.items()]
        case list() | set() | frozenset():
            return [plain(item) for item in value]
        case TimeWindow():
            return {"start": value.start, "end": value.end}
    return value


def _for_spark(arrow_type: pa.DataType) -> pa.DataType:
    """Spark has no column without type; where nothing was seen it is text."""
    if pa.types.is_null(arrow_type):
        return pa.string()
    if pa.types.is_list(arrow_type):
        return pa.list_(_for_spark(arrow_type.value_type))
    if pa.types.is_struct(arrow_type):
        return pa.struct([pa.field(field.name, _for_spark(field.type)) for field in arrow_type])
    if pa.types.is_map(arrow_type):
        return pa.map_(_for_spark(arrow_type.key_type), _for_spark(arrow_type.item_type))
    return arrow_type


_SPARK_NAMES = {
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
}


def spark_columns(schema: pa.Schema) -> str:
    """The schema as Spark writes it: ``key`` bigint, ``value`` struct<...>."""
    return ", ".join(f"`{field.name}` {_spark_type(field.type)}" for field in schema)


def _spark_type(arrow_type: pa.DataType) -> str:
    if pa.types.is_list(arrow_type):
        return f"array<{_spark_type(arrow_type.value_type)}>"
    if pa.types.is_map(arrow_type):
        return f"map<{_spark_type(arrow_type.key_type)}, {_spark_type(arrow_type.item_type)}>"
    if pa.types.is_struct(arrow_type):
        return "struct<{}>".format(", ".join(f"`{field.name}`: {_spark_type(field.type)}" for field in arrow_type))
    if pa.types.is_decimal(arrow_type):
        return f"decimal({arrow_type.precision}, {arrow_type.scale})"
    if arrow_type not in _SPARK_NAMES:
        raise pa.ArrowNotImplementedError(
            f"Spark has no type for {arrow_type} of Arrow: give to_spark() a schema, or use to_arrow()"
        )
    return _SPARK_NAMES[arrow_type]
