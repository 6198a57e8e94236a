"""A Delta table: where it is, and how it is opened; nothing that was configured is ever shown."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from penstock.common.errors import JobExecutionError
from penstock.connectors.lake.lanes import TableView
from penstock.connectors.reaching import package
from penstock.storage.locations import absolute_location

_ROWS_PER_BATCH = 32_768


@dataclass(frozen=True)
class DeltaLocation:
    uri: str
    options: dict[str, str] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(uri: str, options: dict[str, str] | None) -> DeltaLocation:
        return DeltaLocation(absolute_location(uri), dict(options or {}))

    def open(self, version: int | None = None) -> Any:
        return package("deltalake", "delta").DeltaTable(self.uri, version=version, storage_options=self.options)

    def exists(self) -> bool:
        there = package("deltalake", "delta").DeltaTable.is_deltatable(self.uri, storage_options=self.options)
        return bool(there)

    def files(self) -> Any:
        """The directory of the table as a file system of pyarrow's."""
        import pyarrow.fs as fs

        return fs.PyFileSystem(self._handler())

    def write(self, name: str, content: bytes) -> None:
        try:
            if os.path.isabs(self.uri):
                os.makedirs(self.uri, exist_ok=True)  # writers come before the committer, which makes the table
            # Below pyarrow's face of the handler, which gives buffers to a stream that takes bytes.
            stream = self._handler()._handler.open_output_stream(name, None)
            stream.write(content)
            stream.close()
        except OSError as error:
            raise JobExecutionError(
                f"The Delta table {self.uri} cannot be written: {error.strerror or error}. Is there room, and may the"
                " workers of the job write there?"
            ) from error

    def _handler(self) -> Any:
        return package("deltalake.fs", "delta").DeltaStorageHandler(self.uri, self.options)


class DeltaView(TableView):
    """Versions are the table's own."""

    def __init__(self, location: DeltaLocation) -> None:
        self._location = location
        self.place = f"The Delta table {location.uri}"
        self._fragments: tuple[int, dict[str, Any], pa.Schema] | None = None
        self._table: Any = None

    @functools.cached_property
    def _files(self) -> Any:
        return self._location.files()

    def newest(self) -> int:
        if self._table is None:
            self._table = self._open()
        else:
            self._table.update_incremental()
        return int(self._table.version())

    def _open(self) -> Any:
        if not self._location.exists():
            raise JobExecutionError(
                f"{self.place} is not there. Create it first, as a DeltaSink does, or correct the path."
            )
        return self._location.open()

    def check(self, version: int) -> None:
        newest = self.newest()
        try:
            self._location.open(version)
        except package("deltalake.exceptions", "delta").DeltaError as error:
            raise JobExecutionError(
                f"{self.place} has no version {version} (any more); the newest is {newest}: {error}"
            ) from None

    def after(self, version: int) -> int | None:
        return version + 1 if version < self.newest() else None

    def files(self, version: int, whole: bool) -> list[str]:
        if whole:
            return sorted(self._fragments_of(version)[0])
        added = []
        for action in self._commit(version):
            if action.get("add", {}).get("dataChange"):
                added.append(unquote(action["add"]["path"]))
            elif action.get("remove", {}).get("dataChange"):
                raise JobExecutionError(
                    f"{self.place}: version {version} removes rows, and a stream of appended rows cannot tell that."
                    " Read tables that are only appended to continuously, or read this one as a whole."
                )
        return sorted(added)

    def _commit(self, version: int) -> Iterator[dict[str, Any]]:
        with self._files.open_input_stream(f"_delta_log/{version:020d}.json") as file:
            yield from map(json.loads, file.read().splitlines())

    def read(self, version: int, whole: bool, file: str) -> Iterator[pa.RecordBatch]:
        fragments, schema = self._fragments_of(version)
        yield from fragments[file].to_batches(schema=schema, batch_size=_ROWS_PER_BATCH, use_threads=False)

    def _fragments_of(self, version: int) -> tuple[dict[str, Any], pa.Schema]:
        if self._fragments is None or self._fragments[0] != version:
            dataset = self._location.open(version).to_pyarrow_dataset()
            found = {unquote(fragment.path): fragment for fragment in dataset.get_fragments()}
            self._fragments = version, found, dataset.schema
        return self._fragments[1], self._fragments[2]
