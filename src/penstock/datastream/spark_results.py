"""A stream's records as a Spark DataFrame, by way of Parquet files, each of which appears as a whole and once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation, Types
from penstock.common.types import Row
from penstock.connectors.files.bucket_assigners import BucketAssigner
from penstock.connectors.files.sink import FileSink
from penstock.formats.arrow_types import arrow_schema
from penstock.formats.parquet import ParquetBulkWriters
from penstock.storage import storage_at

if TYPE_CHECKING:
    from penstock.datastream.stream_ends import StreamEnds

_COLUMN_OF_PLAIN_VALUES = "value"


def frame_of(stream: StreamEnds, directory: str, job_name: str | None) -> Any:
    from penstock.engines.spark.session import running_session  # not where programs are only built

    if storage_at(directory).names():
        raise ProgramError(f"to_spark() writes into a new directory; there are files in {directory!r} already.")
    row_type = _row_type(stream._type_info)
    if not isinstance(stream._type_info, RowTypeInfo | TupleTypeInfo):
        stream = stream.map(lambda value: Row(value=value), row_type)  # type: ignore[attr-defined]
    builder = FileSink.for_bulk_format(directory, ParquetBulkWriters.for_row_type(row_type))
    # Said beforehand: there may be no file yet, or none at all.
    schema = ", ".join(f"`{field.name}` {_spark_type(field.type)}" for field in arrow_schema(row_type))
    stream.sink_to(builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()).name("to Spark")
    if stream._env._has_an_end():
        stream._env.execute(job_name)
        if not storage_at(directory).names():  # nothing was written, not even the directory
            return running_session().createDataFrame([], schema)
        return running_session().read.schema(schema).parquet(directory)
    stream._env.execute_async(job_name or "to Spark")
    return running_session().readStream.schema(schema).parquet(directory)


def _row_type(type_info: TypeInformation) -> RowTypeInfo:
    if isinstance(type_info, PickledBytesTypeInfo):
        raise ProgramError(
            "to_spark() needs the type of the records for its columns: declare it at the last operator, for example"
            " map(..., output_type=Types.ROW_NAMED(names, types))."
        )
    if isinstance(type_info, RowTypeInfo):
        return type_info
    if isinstance(type_info, TupleTypeInfo):
        types = type_info.get_field_types()
        return Types.ROW_NAMED([f"f{number}" for number in range(len(types))], types)
    return Types.ROW_NAMED([_COLUMN_OF_PLAIN_VALUES], [type_info])


_SPARK_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
    pa.time64("us"): "TIME(6)",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
}


def _spark_type(kind: pa.DataType) -> str:
    """The name of an Arrow type in Spark's SQL."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_map(kind):
        return f"MAP<{_spark_type(kind.key_type)}, {_spark_type(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"ARRAY<{_spark_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'`{field.name}`: {_spark_type(field.type)}' for field in kind)}>"
    return _SPARK_TYPES[kind]
