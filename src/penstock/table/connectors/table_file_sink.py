"""Writes the columns of tables into files, exactly once, by the machinery of the file sink."""

from __future__ import annotations

import os
from typing import Any, BinaryIO
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet

from penstock.common.serialization import BulkWriterFactory
from penstock.connectors.files.bucket_assigners import BucketAssigner
from penstock.connectors.files.commit import FileCommitter
from penstock.connectors.files.writer import FileSettings, FileWriter
from penstock.functions.sink import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext
from penstock.runtime.batch import Batch
from penstock.runtime.key_columns import numbered
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import key_column
from penstock.runtime.table.row_type import TableRowType
from penstock.table.formats.base import Encoder
from penstock.table.formats.text_columns import to_texts

_KEPT = " !\"$&'()*+,-.;<>@[]^_`|~"


class TableFileSink(Sink):
    """Lines of an encoder, or Parquet without one; each partition is a directory."""

    def __init__(
        self,
        base_path: str,
        row_type: TableRowType,
        keys: tuple[int, ...],
        default_partition: str,
        encoder: Encoder | None,
        rolling_policy: Any,
        check_interval: int,
    ) -> None:
        super().__init__()
        self._row_type, self._keys, self._default = row_type, keys, default_partition
        self._encoder = encoder
        stored = [place for place in range(len(row_type)) if place not in keys]
        self._settings = FileSettings(
            base_path,
            BucketAssigner.base_path_bucket_assigner(),
            rolling_policy,
            check_interval,
            "part",
            "" if encoder is not None else ".parquet",
            encoder,
            None if encoder is not None else _ParquetFactory(row_type, stored),
        )

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _TableFileWriter(self._settings, context, self._row_type, self._keys, self._default)

    def create_committer(self, context: CommitterContext) -> Committer:
        return FileCommitter(self._settings.base_path, context.job_id)


class _TableFileWriter(FileWriter):
    def __init__(
        self,
        settings: FileSettings,
        context: WriterContext,
        row_type: TableRowType,
        keys: tuple[int, ...],
        default: str,
    ) -> None:
        super().__init__(settings, context)
        self._codec = TableCodec(row_type)
        self._keys, self._default = keys, default

    def _by_bucket(self, batch: Records, now: int) -> dict[str, Records]:
        assert isinstance(batch, Batch)
        batch = batch.in_columns(self._codec)
        if not self._keys:
            return {"": batch}
        arrays, types = self._codec.arrays(batch), self._codec.row_type.types
        chosen = [arrays[place] for place in self._keys]
        groups = numbered(key_column(chosen, [types[place] for place in self._keys], len(batch)))
        found: dict[str, Records] = {}
        for number in range(len(groups.distinct)):
            part = batch.filter(groups.codes == number)
            found[self._directory(part)] = part
        return found

    def _directory(self, batch: Batch) -> str:
        """`day=2020-01-01/hour=5`, of rows that have one partition."""
        arrays, row_type = self._codec.arrays(batch), self._codec.row_type
        parts = []
        for place in self._keys:
            text = to_texts(arrays[place].slice(0, 1), row_type.types[place], "UTC")[0].as_py()
            parts.append(f"{row_type.names[place]}={quote(text, safe=_KEPT) if text else self._default}")
        return os.path.join(*parts)

    def _write_rows(self, bucket_id: str, batch: Records, now: int) -> None:
        assert isinstance(batch, Batch)
        arrays = self._codec.arrays(batch)
        stored = [array for place, array in enumerate(arrays) if place not in self._keys]
        block: bytes = self._encoder.block(stored, batch.kinds, len(batch))
        part = self._part(bucket_id, now)
        if part.part.size and self._policy.should_roll_on_event(part.part, None):
            self._roll(bucket_id)
            part = self._part(bucket_id, now)
        part.write(block, now)


class _ParquetFactory(BulkWriterFactory):
    def __init__(self, row_type: TableRowType, stored: list[int]) -> None:
        super().__init__()
        self._row_type, self._stored = row_type, stored

    def create(self, stream: BinaryIO) -> _ParquetWriter:
        return _ParquetWriter(stream, self._row_type, self._stored)


class _ParquetWriter:
    def __init__(self, stream: BinaryIO, row_type: TableRowType, stored: list[int]) -> None:
        self._codec, self._stored = TableCodec(row_type), stored
        self._schema = pa.schema([(row_type.names[place], self._codec.schema.types[place]) for place in stored])
        self._writer = pyarrow.parquet.ParquetWriter(stream, self._schema)

    def add_batch(self, batch: Batch) -> None:
        arrays = self._codec.arrays(batch)
        chosen = [arrays[place] for place in self._stored]
        self._writer.write_batch(pa.RecordBatch.from_arrays(chosen, schema=self._schema))

    def finish(self) -> None:
        self._writer.close()
