"""The beginnings of a job: operators that read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.functions.bad_records import BadRecord, chosen_for
from penstock.functions.source import Fetch, ReaderContext, Source, SourceReader
from penstock.metrics import Counter
from penstock.runtime.batch import Batch, Control
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.claims import claim
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.watermarks import TimestampsAndWatermarksOperator
from penstock.runtime.sources.splits import Positions, ReadReport, SplitWork
from penstock.runtime.station import LocalInput

Element = Batch | Control | None  # None: the end


class SourceOperator(Operator):
    """Reads what the driver has planned from where to where."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._bad_records = chosen_for(blueprint.function)
        self._bad_count: Counter | None = None

    def read(self, work: Any) -> Iterator[Element]:
        """The elements of the epoch; whoever drives this emits them."""
        for element in self.blueprint.function.read(work):
            if isinstance(element, BadRecord):
                self._put_aside([element])
            else:
                yield element

    def _put_aside(self, bad: Sequence[BadRecord]) -> None:
        """What could not be decoded."""
        if self._bad_count is None:
            self._bad_count = self.memory.metrics.counter("numRecordsInErrors")
        self._bad_count.inc(len(bad))
        if self._bad_records.fails:
            raise JobExecutionError(str(bad[0]))
        tag = self._bad_records.tag
        side = None if tag is None else self.side_outputs.get(tag.tag_id)
        if side is not None:
            side.emit(Batch(list(bad)))

    def read_report(self) -> Any:
        """What the planner has to know about the epoch; None for nothing."""
        return None

    @property
    def held_back(self) -> bool:
        """Whether it would have read more in this epoch, had it been allowed to; the planner knows it of the others."""
        return False


class SplitSourceOperator(SourceOperator):
    """Lets a reader read its splits as far as it gets. The reader lives across epochs, and knows where it is.

    An engine that reads in batches calls read(); one whose tasks stay calls assign() when splits change, and then
    fetch() as often as it likes between two barriers.
    """

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._source: Source = blueprint.function
        self._reader: SourceReader | None = None
        self._at: Positions = {}  # where the reader is
        self._finished: Positions = {}  # in this epoch
        self._watermarks: TimestampsAndWatermarksOperator | None = None
        self._sides_idle = False
        self._paused: set[str] = set()
        self._held_back = False

    def connect(self, output: Any, side_outputs: Any) -> None:
        super().connect(output, side_outputs)
        follower = output.operator if isinstance(output, LocalInput) else None
        if isinstance(follower, TimestampsAndWatermarksOperator) and follower.blueprint.params.get("part_of_source"):
            self._watermarks = follower

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._paused = set()

    def read(self, work: SplitWork) -> Iterator[Element]:
        self.assign(work)
        records, self._held_back = 0, False
        while self._at and records < work.max_records:
            self._align(work.watermark_limit)
            fetch = self.fetch(work.max_records - records)
            if fetch is None:
                break
            records += len(fetch.records) + len(fetch.bad)
            if fetch.bad:
                self._put_aside(fetch.bad)
            if fetch.records:
                yield _batch_of(fetch)
                self._tell_side_outputs()
        self._held_back = bool(self._at) and records >= work.max_records
        if work.claim is not None:
            claim(*work.claim)
        if work.complete and not self._at:
            yield None

    def _align(self, limit: int | None) -> None:
        """Splits whose event time is too far ahead wait for their group."""
        if self._watermarks is None or self._reader is None or (limit is None and not self._paused):
            return
        ahead = set() if limit is None else self._watermarks.splits_ahead_of(limit)
        if ahead != self._paused:
            self._paused = ahead
            self._reader.pause_splits(ahead & self._at.keys())

    def _tell_side_outputs(self) -> None:
        """Watermarks arise after this operator; what was put aside shall not hold them back elsewhere."""
        if self._watermarks is None or not self.side_outputs:
            return
        watermark, idle = self._watermarks.watermark, self._watermarks.idle
        for side in self.side_outputs.values():
            if watermark > self.watermark:
                side.emit_watermark(watermark)
            if idle != self._sides_idle:
                side.emit_idleness(idle)
        self.watermark, self._sides_idle = watermark, idle

    def assign(self, work: SplitWork) -> None:
        """From now on exactly these splits are read, from their positions on."""
        reader = self._open_reader()
        self._finished.clear()
        wanted = work.splits()
        if self._paused and wanted.keys() != self._at.keys():
            self._paused = set()
            reader.pause_splits(())
        for id_ in [id_ for id_ in self._at if id_ not in wanted or wanted[id_].position != self._at[id_]]:
            reader.remove_split(id_)
            del self._at[id_]
        for id_, split in wanted.items():
            if id_ not in self._at:
                reader.add_split(split.split, split.position)
                self._at[id_] = split.position
        if self._watermarks is not None:
            self._watermarks.keep_splits(self._at)

    def fetch(self, max_records: int) -> Fetch | None:
        """The next records; when it returns, watermarks are made for the split that they belong to."""
        assert self._reader is not None, "no splits were assigned"
        fetch = self._reader.fetch(max_records)
        if fetch is None:
            return None
        if fetch.split_id not in self._at:
            raise JobExecutionError(
                f"{type(self._reader).__name__}.fetch() gave records of the split {fetch.split_id!r}, which it was not"
                f" asked to read; its splits are {', '.join(sorted(self._at)) or 'none'}."
            )
        if self._watermarks is not None:
            self._watermarks.select_split(fetch.split_id)
        self._at[fetch.split_id] = fetch.position
        if fetch.finished:
            self._finished[fetch.split_id] = self._at.pop(fetch.split_id)
        return fetch

    def on_commit(self, epoch: int) -> None:
        if self._reader is not None:
            self._reader.on_commit({**self._at, **self._finished})

    def read_report(self) -> ReadReport:
        return ReadReport({**self._at, **self._finished}, frozenset(self._finished))

    @property
    def held_back(self) -> bool:
        return self._held_back

    def _open_reader(self) -> SourceReader:
        if self._reader is None:
            blueprint = self.blueprint
            self._reader = self._source.create_reader(
                ReaderContext(
                    self.context.settings.job_id,
                    blueprint.uid,
                    self.context.subtask,
                    blueprint.parallelism,
                    self.memory.metrics,
                )
            )
            self._reader.open()
        return self._reader


def _batch_of(fetch: Fetch) -> Batch:
    records = fetch.records
    if isinstance(records, Batch):
        return records
    return Batch(records if isinstance(records, list) else records.values, fetch.timestamps)
