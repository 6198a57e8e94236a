"""An Iceberg table in a catalog; what the catalog was configured with is never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from penstock.common.errors import JobExecutionError, PenstockError, ProgramError
from penstock.connectors.lake.lanes import TableView
from penstock.connectors.reaching import package

_LOGIN = re.compile(r"://[^/@\s]*@")
_ADDED = 1  # the status of a file that a snapshot has added
_ROWS_PER_BATCH = 32_768


@dataclass(frozen=True)
class IcebergLocation:
    """A table's name in a catalog of pyiceberg's; the properties are those of `pyiceberg.catalog.load_catalog`."""

    table: str
    properties: dict[str, str] = field(repr=False)
    catalog: str = "default"

    @staticmethod
    def of(table: str, properties: dict[str, str], catalog: str) -> IcebergLocation:
        if not all(table.split(".")) or "." not in table:
            raise ProgramError(f"An Iceberg table is named with its namespace, as 'shop.views', not {table!r}.")
        return IcebergLocation(table, dict(properties), catalog)

    def open_catalog(self) -> Any:
        try:
            return package("pyiceberg.catalog", "iceberg").load_catalog(self.catalog, **self.properties)
        except PenstockError:
            raise
        except Exception as error:
            # Without its traceback, whose lines could show what was connected with.
            told = _LOGIN.sub("://*****@", f"{type(error).__name__}: {error}")
            raise JobExecutionError(
                f"The catalog of the Iceberg table {self.table} cannot be opened: {told}. Are its properties right, and"
                " does it run?"
            ) from None

    def open(self) -> Any:
        catalog = self.open_catalog()
        try:
            return catalog.load_table(self.table)
        except package("pyiceberg.exceptions", "iceberg").NoSuchTableError:
            raise JobExecutionError(
                f"The Iceberg table {self.table} is not in its catalog. Create it first, as an IcebergSink does, or"
                " correct the name."
            ) from None


class IcebergView(TableView):
    """Versions are snapshots, in the order in which they followed each other."""

    def __init__(self, location: IcebergLocation) -> None:
        self._location = location
        self.place = f"The Iceberg table {location.table}"
        self._opened: Any = None
        self._tasks: tuple[int, bool, dict[str, Any]] | None = None

    @property
    def _table(self) -> Any:
        if self._opened is None:
            self._opened = self._location.open()
        return self._opened

    def newest(self) -> int:
        self._table.refresh()
        snapshot = self._table.current_snapshot()
        return 0 if snapshot is None else int(snapshot.snapshot_id)

    def check(self, version: int) -> None:
        if self._table.snapshot_by_id(version) is None:
            raise JobExecutionError(
                f"{self.place} has no snapshot {version} (any more); the newest is {self.newest()}."
            )

    def after(self, version: int) -> int | None:
        newest = self.newest()
        snapshots = {each.snapshot_id: each for each in self._table.metadata.snapshots}
        at = newest
        while at in snapshots:
            before = snapshots[at].parent_snapshot_id or 0
            if before == version:
                return at
            at = before
        if at == version or newest == version:
            return None
        raise self._expired(version, "what came after it cannot be told")

    def _expired(self, version: int, consequence: object) -> JobExecutionError:
        return JobExecutionError(
            f"{self.place} does not have the snapshot {version} any more, up to which it was read: {consequence}. Keep"
            " snapshots longer than a job may stand still, or start it without its state."
        )

    def files(self, version: int, whole: bool) -> list[str]:
        return sorted(self._tasks_of(version, whole))

    def read(self, version: int, whole: bool, file: str) -> Iterator[pa.RecordBatch]:
        table = self._table
        expressions = package("pyiceberg.expressions", "iceberg")
        scan = package("pyiceberg.io.pyarrow", "iceberg").ArrowScan(
            table.metadata, table.io, table.schema(), expressions.AlwaysTrue()
        )
        # A whole file: its rows always have the same order, whatever the sizes of batches.
        task = self._tasks_of(version, whole)[file]
        try:
            rows = scan.to_table([task])
        except FileNotFoundError as error:
            raise self._expired(version, error) from error
        yield from rows.combine_chunks().to_batches(_ROWS_PER_BATCH)

    def _tasks_of(self, version: int, whole: bool) -> dict[str, Any]:
        if self._tasks is None or self._tasks[:2] != (version, whole):
            if version and self._table.snapshot_by_id(version) is None:
                raise self._expired(version, "its files are not known")
            found = self._whole(version) if whole else self._added(version)
            self._tasks = version, whole, {task.file.file_path: task for task in found}
        return self._tasks[2]

    def _whole(self, version: int) -> list[Any]:
        return list(self._table.scan(snapshot_id=version).plan_files()) if version else []

    def _added(self, version: int) -> list[Any]:
        snapshot = self._table.snapshot_by_id(version)
        operation = snapshot.summary.operation.value
        if operation == "replace":
            return []  # the same rows in other files
        if operation != "append":
            raise JobExecutionError(
                f"{self.place}: the snapshot {version} changes or removes rows ({operation}), and a stream of appended"
                " rows cannot tell that. Read it as a whole, or continuously where rows are only appended."
            )
        task = package("pyiceberg.table", "iceberg").FileScanTask
        return [
            task(entry.data_file)
            for manifest in snapshot.manifests(self._table.io)
            if manifest.added_snapshot_id == version
            for entry in manifest.fetch_manifest_entry(self._table.io, discard_deleted=True)
            if entry.status == _ADDED
        ]
