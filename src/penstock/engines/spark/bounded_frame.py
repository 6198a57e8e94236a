"""A bounded Spark DataFrame as a source: written once as Parquet, then read by row groups like any other source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
from pyspark.sql import DataFrame

from penstock.common.errors import NotSupportedError
from penstock.engines.spark.frames import to_batch
from penstock.runtime.batch import Batch, Control
from penstock.runtime.sources.base import Assignment, SourcePlanner, WorkReader

Group = tuple[str, int]  # file, row group


class GroupReader(WorkReader):
    """Reads row groups as Rows."""

    def __init__(self, event_time: str | None) -> None:
        self._event_time = event_time

    def read(self, work: Any) -> Iterator[Batch | Control]:
        for path, group in work:
            for batch in parquet.ParquetFile(path).iter_batches(row_groups=[group]):
                yield to_batch(batch, self._event_time)


class BoundedFrame(SourcePlanner):
    """A position is the number of row groups that have been read."""

    def __init__(self, frame: DataFrame, event_time: str | None) -> None:
        self._frame = frame
        self._event_time = event_time
        self._groups: list[Group] = []
        self._rows: list[int] = []

    def open(self, parallelism: int, directory: str, wake: Callable[[], None]) -> None:
        self._frame.write.mode("overwrite").parquet(directory)
        for path in sorted(Path(directory).glob("*.parquet")):
            metadata = parquet.ParquetFile(path).metadata
            for group in range(metadata.num_row_groups):
                self._groups.append((str(path), group))
                self._rows.append(metadata.row_group(group).num_rows)

    def initial_position(self, parallelism: int) -> int:
        return 0

    def advance(self, position: int, budget: int) -> int:
        rows = 0
        while position < len(self._groups) and (rows == 0 or rows + self._rows[position] <= budget):
            rows += self._rows[position]
            position += 1
        return position

    def assignments(self, start: int, end: int, parallelism: int) -> dict[int, Assignment]:
        final = self.exhausted(end)
        groups = {subtask: self._groups[start:end][subtask::parallelism] for subtask in range(parallelism)}
        return {subtask: Assignment(work or None, final) for subtask, work in groups.items() if work or final}

    def exhausted(self, position: int) -> bool:
        return position >= len(self._groups)

    def restore_savepoint(self, position: int, state: Any) -> int:
        raise NotSupportedError(
            "a job that reads a bounded Spark DataFrame cannot start from a savepoint: Spark may give the rows in "
            "another order; write the DataFrame to files and read them with a FileSource"
        )

    def reader(self) -> WorkReader:
        return GroupReader(self._event_time)
