"""A Delta table: where it is, and how it is opened; nothing that was configured is ever shown."""

from __future__ import annotations

import contextlib
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
        with self._reached():
            table = package("deltalake", "delta").DeltaTable(self.uri, version=version, storage_options=self.options)
        if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
            # Delta's own client would read nothing but nulls, and write columns that nobody finds.
            raise JobExecutionError(
                f"The Delta table {self.uri} gives its columns other names in its files (delta.columnMapping.mode),"
                " which Delta's client for Python does not follow. Use a copy without column mapping."
            )
        return table

    def exists(self) -> bool:
        with self._reached():
            return bool(package("deltalake", "delta").DeltaTable.is_deltatable(self.uri, storage_options=self.options))

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise JobExecutionError(
                f"The Delta table {self.uri} cannot be reached: {error}. Are the address and the storage options right,"
                " and does the store run?"
            ) from error

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

    def remove(self, folder: str) -> None:
        """With the folders above it that are empty then; stores of objects have none."""
        import pyarrow.fs as fs

        files = self.files()
        if files.get_file_info(folder).type.name == "Directory":
            for each in files.get_file_info(fs.FileSelector(folder, recursive=True)):
                if each.type.name == "File":
                    files.delete_file(each.path)
        while os.path.isabs(self.uri) and folder:
            try:
                os.rmdir(os.path.join(self.uri, folder))
            except OSError:
                return
            folder = os.path.dirname(folder)

    def _handler(self) -> Any:
        return package("deltalake.fs", "delta").DeltaStorageHandler(self.uri, self.options)


@dataclass(frozen=True)
class _Version:
    number: int
    identity: str
    fragments: dict[str, Any]
    schema: pa.Schema


class DeltaView(TableView):
    """Versions are the table's own."""

    def __init__(self, location: DeltaLocation) -> None:
        self._location = location
        self.place = f"The Delta table {location.uri}"
        self._version: _Version | None = None
        self._table: Any = None

    @functools.cached_property
    def _files(self) -> Any:
        return self._location.files()

    def identity(self, version: int) -> str:
        return self._opened(version).identity

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
        with self._naming(version):
            return self._files_of(version, whole)

    @contextlib.contextmanager
    def _naming(self, version: int) -> Iterator[None]:
        refused = package("deltalake.exceptions", "delta").DeltaError  # not later: a reader may end with its process
        try:
            yield
        except (OSError, refused) as error:
            raise JobExecutionError(
                f"{self.place}: version {version} cannot be read: {error}. If VACUUM or the cleaning of the log has"
                " removed it, keep versions longer than a job may stand still, and start this job without its state."
            ) from error

    def _files_of(self, version: int, whole: bool) -> list[str]:
        if whole:
            return sorted(self._opened(version).fragments)
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
        with self._naming(version):
            opened = self._opened(version)
            batches = opened.fragments[file].to_batches(
                schema=opened.schema, batch_size=_ROWS_PER_BATCH, use_threads=False
            )
            yield from batches

    def _opened(self, version: int) -> _Version:
        if self._version is None or self._version.number != version:
            table = self._location.open(version)
            dataset = table.to_pyarrow_dataset()
            fragments = {unquote(fragment.path): fragment for fragment in dataset.get_fragments()}
            self._version = _Version(version, str(table.metadata().id), fragments, self._with_later(dataset.schema))
        return self._version

    def _with_later(self, schema: pa.Schema) -> pa.Schema:
        """Columns that the table has got since this version are NULL in it, as in what stays of it in later ones."""
        self.newest()
        newest = pa.schema(self._table.schema().to_arrow())
        return pa.schema([*schema, *(each for each in newest if each.name not in schema.names)])
