"""JSON messages as columns, where Arrow's reader and ours agree; all else is left to the reader of single messages."""

from __future__ import annotations

import re

import pyarrow as pa

from penstock.common.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch

# FLOAT and moments are missing: their values get their final form only at the next task boundary.
_TYPES = {BasicType.STRING, BasicType.BOOLEAN, BasicType.INT, BasicType.LONG, BasicType.DOUBLE}
_NEXT_OBJECT = re.compile(rb"\}\s*\{")
_SMALLEST_BLOCK = 1 << 16


class JsonColumns:
    """Reads messages of one row type."""

    def __init__(self, row_type: RowTypeInfo, fail_on_missing_field: bool) -> None:
        names, types = row_type.get_field_names(), row_type.get_field_types()
        known = all(isinstance(each, BasicTypeInfo) and each.basic_type in _TYPES for each in types)
        possible = known and names and len(set(names)) == len(names) and not fail_on_missing_field
        self._codec = codec_for(row_type) if possible else None
        if self._codec is not None:
            types_of_fields = [self._codec.schema.field(i).type for i in range(len(names))]
            self._schema = pa.schema(list(zip(names, types_of_fields, strict=True)))

    def read(self, messages: list[bytes]) -> Batch | None:
        """None when some message may be something else than one plain object."""
        if self._codec is None or not messages:
            return None
        joined = b"\n".join(messages)
        # Infinity and NaN, which JSON does not have, are read by Arrow.
        if not _is_one_object_each(joined, len(messages)) or b"Inf" in joined or b"NaN" in joined:
            return None
        if not _is_text(joined):
            return None
        from pyarrow import json  # late: where work is only planned it is not needed

        try:
            table = json.read_json(
                pa.BufferReader(joined),
                json.ReadOptions(use_threads=False, block_size=max(_SMALLEST_BLOCK, len(joined) + 1)),
                json.ParseOptions(explicit_schema=self._schema, unexpected_field_behavior="ignore"),
            )
        except pa.ArrowException:
            return None
        if table.num_rows != len(messages):
            return None
        columns = [_one_array(table.column(name)) for name in self._schema.names]
        return Batch.of_columns(self._codec, pa.RecordBatch.from_arrays(columns, schema=self._codec.schema))


def _is_one_object_each(joined: bytes, count: int) -> bool:
    """Arrow reads a stream of objects, whatever messages they came in, and crashes on others than objects.

    So no message has a line end, each begins and ends as an object does, and none ends and begins one in between.
    """
    ends = count - 1
    outside = joined[:1] == b"{" and joined[-1:] == b"}" and joined.count(b"\n") == joined.count(b"}\n{") == ends
    return outside and len(_NEXT_OBJECT.findall(joined)) == ends


def _is_text(content: bytes) -> bool:
    """Arrow takes bytes as they are."""
    try:
        return content.isascii() or bool(content.decode())
    except UnicodeDecodeError:
        return False


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
