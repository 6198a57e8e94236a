"""Writes the columns of tables into files, exactly once, by the machinery of the file sink."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import quote

from penstock.connectors.files.writer import FileSettings, FileWriter
from penstock.functions.sink import Records, WriterContext
from penstock.runtime.batch import Batch
from penstock.runtime.key_columns import numbered
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import key_column
from penstock.runtime.table.row_type import TableRowType
from penstock.table.formats.text_columns import to_texts

KEPT = " !\"$&'()*+,-.;<>@[]^_`|~"


@dataclass(frozen=True)
class FileLayout:
    """How the rows of a table lie in files: partitions are directories."""

    row_type: TableRowType
    keys: tuple[int, ...]  # columns of the partitions
    default_partition: str

    @property
    def stored(self) -> list[int]:
        """The columns that files hold."""
        return [place for place in range(len(self.row_type)) if place not in self.keys]


class TableFileWriter(FileWriter):
    def __init__(
        self,
        settings: FileSettings,
        context: WriterContext,
        layout: FileLayout,
    ) -> None:
        super().__init__(settings, context)
        self._codec = TableCodec(layout.row_type)
        self._keys, self._default = layout.keys, layout.default_partition

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
            parts.append(f"{row_type.names[place]}={quote(text, safe=KEPT) if text else self._default}")
        return os.path.join(*parts)

    def _write_rows(self, bucket_id: str, batch: Records, now: int) -> None:
        assert isinstance(batch, Batch)
        arrays = self._codec.arrays(batch)
        stored = [array for place, array in enumerate(arrays) if place not in self._keys]
        block: bytes | memoryview = self._encoder.block(stored, batch.kinds, len(batch))
        part = self._part(bucket_id, now)
        if part.part.size and self._policy.should_roll_on_event(part.part, None):
            self._roll(bucket_id)
            part = self._part(bucket_id, now)
        part.write(block, now)
