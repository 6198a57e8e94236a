"""Generated rows: random values and sequences, with Flink's options."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.runtime.batch import Batch, Control
from penstock.runtime.sources.base import Assignment, SourcePlanner, WorkReader
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSource
from penstock.table.connectors.generators import BLOCK, Generator, generator_of

_TICK_SECONDS = 0.1
_RATE = 10_000


class DatagenConnector(TableConnector):
    """`fields.NAME.kind` is random or sequence; without `number-of-rows` and sequences the table never ends."""

    name = "datagen"
    options = ("rows-per-second", "number-of-rows", "scan.parallelism")
    prefixes = ("fields.",)

    def source(self, table: ConnectorTable) -> TableSource:
        settings = _settings_by_field(table)
        generators = [generator_of(field, settings.pop(field.name, {}), table.name) for field in table.fields]
        if settings:
            raise ProgramError(f"The table {table.name} has no column {next(iter(settings))!r} to generate.")
        limits = [generator.rows for generator in generators if generator.rows is not None]
        if "number-of-rows" in table.options:
            limits.append(table.number("number-of-rows", 0))
        rate = table.number("rows-per-second", _RATE)
        if rate <= 0:
            raise ProgramError(f"'rows-per-second' of {table.name} must be above 0.")
        rows = min(limits, default=None)
        if rows is None and table.bounded:
            raise NotSupportedError(f"The table {table.name} never ends: give 'number-of-rows' for a batch program.")
        source = GeneratedRows(table.row_type, generators, rate, rows)
        return TableSource(source, table.name, parallelism=table.number("scan.parallelism", 0) or None)


def _settings_by_field(table: ConnectorTable) -> dict[str, dict[str, str]]:
    """`fields.a.min` and so on; names of columns may have dots."""
    found: dict[str, dict[str, str]] = {}
    names = sorted((field.name for field in table.fields), key=len, reverse=True)
    for key, value in table.prefixed("fields.").items():
        name = next((name for name in names if key.startswith(f"{name}.")), key.rpartition(".")[0])
        found.setdefault(name, {})[key[len(name) + 1 :]] = value
    return found


class GeneratedRows(SourcePlanner):
    """A position is [seed, moment of the start, rows so far], from which every row follows: epochs can be repeated."""

    def __init__(self, row_type: TableRowType, generators: list[Generator], rate: int, rows: int | None) -> None:
        self.bounded = rows is not None
        self._row_type, self._generators, self._rate, self._rows = row_type, generators, rate, rows
        self._closed = threading.Event()
        self._began: tuple[float, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_closed": None}

    def open(self, parallelism: int, directory: str, wake: Callable[[], None]) -> None:
        self._closed.clear()
        self._began = None

        def tick() -> None:
            while not self._closed.wait(_TICK_SECONDS):
                wake()

        threading.Thread(target=tick, name="datagen", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def initial_position(self, parallelism: int) -> list[int]:
        return [random.getrandbits(62), int(time.time() * 1000), 0]

    def advance(self, position: list[int], budget: int) -> list[int]:
        """As many rows as the rate allows since the job began or went on."""
        seed, start, done = position
        if self._began is None:
            self._began = (time.monotonic(), done)
        since, first = self._began
        allowed = first + int((time.monotonic() - since + _TICK_SECONDS) * self._rate)
        end = min(done + budget, max(done, allowed))
        return [seed, start, end if self._rows is None else min(end, self._rows)]

    def assignments(self, start: list[int], end: list[int], parallelism: int) -> dict[int, Assignment]:
        first, last, final = start[2], end[2], self.exhausted(end)
        cuts = [first + (last - first) * part // parallelism for part in range(parallelism + 1)]
        return {
            subtask: Assignment((start[0], start[1], self._rate, cuts[subtask], cuts[subtask + 1]), final)
            for subtask in range(parallelism)
        }

    def exhausted(self, position: list[int]) -> bool:
        return self._rows is not None and position[2] >= self._rows

    def reader(self) -> WorkReader:
        return _GeneratingReader(self._row_type, self._generators)


class _GeneratingReader(WorkReader):
    def __init__(self, row_type: TableRowType, generators: list[Generator]) -> None:
        self._row_type, self._generators = row_type, generators

    def read(self, work: Any) -> Iterator[Batch | Control]:
        """Rows are made in blocks that begin at fixed numbers, so that they do not depend on how epochs are cut."""
        seed, began, rate, start, end = work
        codec = TableCodec(self._row_type)
        while start < end:
            block, offset = divmod(start, BLOCK)
            count = min(end - start, BLOCK - offset)
            columns = [
                generator.block(block, (seed, place), began, rate).slice(offset, count)
                for place, generator in enumerate(self._generators)
            ]
            yield codec.batch(columns, rows=count)
            start += count
