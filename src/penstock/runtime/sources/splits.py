"""Sources that are read split by split: what the driver plans of them.

Positions come from the readers: each report says how far the subtask's splits were read, and the epoch's record keeps
it. So an epoch that runs again begins where the last complete one ended, but may read more or less than its first
attempt did. That is right because nothing of the first attempt can be used then: see `claim`, and docs/adr/0016.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.functions.source import EnumeratorContext, Source, Split
from penstock.runtime.pickling import dumps_on_driver, loads
from penstock.runtime.sources.base import Assignment, SourcePlanner
from penstock.runtime.sources.split_watch import SplitWatch
from penstock.storage import storage_at

Positions = dict[str, Any]  # by id of the split
_CLAIMS = "claims"


@dataclass(frozen=True)
class OpenSplit:
    """A split that is not finished, and how far it was read."""

    split: Split
    number: int  # in the order of discovery: decides which subtask reads it
    position: Any


@dataclass(frozen=True)
class SourceProgress:
    """What the job keeps of a source with every epoch."""

    splits: dict[str, OpenSplit] = field(default_factory=dict)
    finished: frozenset[str] = frozenset()
    found: int = 0
    complete: bool = False  # no further split can come
    enumerator: Any = None

    @property
    def ended(self) -> bool:
        return self.complete and not self.splits

    def positions(self) -> Positions:
        return {id_: split.position for id_, split in self.splits.items()}

    def with_found(self, found: list[Split], complete: bool, enumerator: Any) -> SourceProgress:
        """Splits that were known before stay as they are."""
        if self.complete:
            return self
        new = [split for split in found if split.split_id not in self.splits and split.split_id not in self.finished]
        opened = {split.split_id: OpenSplit(split, self.found + i, split.start) for i, split in enumerate(new)}
        return SourceProgress({**self.splits, **opened}, self.finished, self.found + len(opened), complete, enumerator)

    def with_reports(self, reports: list[ReadReport]) -> SourceProgress:
        positions: Positions = {}
        finished = set[str]()
        for report in reports:
            positions.update(report.positions)
            finished |= report.finished
        splits = {
            id_: replace(split, position=positions.get(id_, split.position))
            for id_, split in self.splits.items()
            if id_ not in finished
        }
        # Only who looks again has to remember what it has seen.
        return replace(self, splits=splits, finished=frozenset() if self.complete else self.finished | finished)


@dataclass(frozen=True)
class ReadReport:
    """How far one subtask has read its splits in an epoch."""

    positions: Positions = field(default_factory=dict)  # also of those that are finished
    finished: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SplitWork:
    """What one subtask reads in an epoch: its splits from their positions on, as far as it gets."""

    pickled_splits: bytes  # on its way it passes a process in which the program's classes are not known
    max_records: int
    complete: bool  # no further split can come
    claim: tuple[str, str] | None = None  # storage and name: whoever creates it may let its output be used
    watermark_limit: int | None = None  # of its alignment group

    def splits(self) -> dict[str, OpenSplit]:
        splits: list[OpenSplit] = loads(self.pickled_splits)
        return {each.split.split_id: each for each in splits}


class SplitPlanner(SourcePlanner):
    """Plans a Source of splits. Its position only counts; what matters is the progress in the epoch's record."""

    kind = "split_source"
    ahead = False

    def __init__(self, source: Source) -> None:
        self._source = source
        self.bounded = source.bounded
        self._restored = self._begun = self._after = SourceProgress()
        self._reached: Positions = {}  # in the last epoch, also of splits that it has finished
        self._budget = 1
        self._opened: SplitWatch | None = None
        self._failed = False
        self._directory = ""
        self._claim: str | None = None

    def reader(self) -> Source:
        return self._source

    def open(self, parallelism: int, directory: str, wake: Callable[[], None]) -> None:
        subtask = self.runtime_context._subtask
        context = EnumeratorContext(subtask.settings.job_id, subtask.operator.uid, parallelism)
        self._directory = directory

        def start() -> None:
            self.close()
            self._opened = SplitWatch(self._source.create_enumerator(context), wake, self._after.enumerator)
            self._opened.start()

        self._start = start
        start()

    @property
    def _watch(self) -> SplitWatch:
        assert self._opened is not None, "the source is not open"
        return self._opened

    def close(self) -> None:
        if self._opened is not None:
            self._opened.stop()

    # -- planning ----------------------------------------------------------------------------------------------

    def initial_position(self, parallelism: int) -> int:
        return 0

    def advance(self, position: int, budget: int) -> int:
        self._budget = budget
        known = self._with_found(self._after)
        found = known.found > self._after.found or known.complete > self._after.complete
        return position + 1 if found or (known.splits and self._watch.has_news()) else position

    def exhausted(self, position: int) -> bool:
        return self._after.ended

    def begin(self, progress: SourceProgress | None) -> None:
        before = self._restored if progress is None else progress
        if before is not self._after:
            # An epoch that has a record runs again: its driver died before Spark had committed it. The splits that it
            # had found are found once more, by an enumerator that does not know them.
            self._after = before
            self._start()
        self._begun = self._with_found(before)

    def assignments(self, start: int, end: int, parallelism: int) -> dict[int, Assignment]:
        mine: dict[int, list[OpenSplit]] = {subtask: [] for subtask in range(parallelism)}
        for split in self._begun.splits.values():
            mine[split.number % parallelism].append(split)
        busy = sum(bool(splits) for splits in mine.values())
        share = max(1, self._budget // max(1, busy))
        claim = self._new_claim()
        return {
            subtask: Assignment(
                SplitWork(
                    dumps_on_driver(splits),
                    share,
                    self._begun.complete,
                    (self._directory, f"{claim}-{subtask}"),
                    self.watermark_limit,
                )
            )
            for subtask, splits in mine.items()
            if splits or self._begun.complete
        }

    def completed(self, reports: list[ReadReport]) -> SourceProgress:
        self._after = after = self._begun.with_reports(reports)
        self._watch.at(after.positions(), moved=after.positions() != self._begun.positions())
        self._reached = after.positions()
        for report in reports:
            self._reached.update(report.positions)
        return after

    def on_commit(self, position: int) -> None:
        self._watch.committed(self._reached)

    def _with_found(self, progress: SourceProgress) -> SourceProgress:
        """Who asks after a failure was told is another attempt: it gets an enumerator of its own."""
        if self._failed:
            self._failed = False
            self._start()
        try:
            look = self._watch.latest()
        except JobExecutionError:
            self._failed = True
            raise
        return progress if look is None else progress.with_found(look.splits, look.complete, look.state)

    def _new_claim(self) -> str:
        """Each time that an epoch is planned: attempts of one planned task share it, and only one of them gets it."""
        if self._claim is not None:
            storage = storage_at(self._directory)
            for name in storage.names(self._claim):
                storage.delete(name)
        self._claim = f"{_CLAIMS}/{uuid.uuid4().hex}"
        return self._claim

    # -- savepoints --------------------------------------------------------------------------------------------

    def recover(self, progress: SourceProgress | None) -> None:
        if progress is not None:
            self._after = progress

    def savepoint_state(self, position: int) -> Any:
        return self._after

    def restore_savepoint(self, position: int, state: Any) -> int:
        if state is not None:
            self._restored = self._after = state
        return 0
