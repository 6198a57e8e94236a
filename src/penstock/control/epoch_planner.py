"""Plans the epochs of one job, in the driver: how far each reads, and which subtask does what."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochRecord
from penstock.control.savepoints import restore_sources
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.state_questions import StateQuestions
from penstock.control.wakeups import Wakeups
from penstock.control.work import EpochPlan, Offset, Place, Work, places_of
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock
from penstock.runtime.epoch_note import EpochNote
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.sources.base import Assignment, SourcePlanner
from penstock.runtime.summons import Summons

_IDLE_WAIT_SECONDS = 0.05


class EpochPlanner:
    """Knows nothing of what became of an epoch, so that several may be under way."""

    def __init__(
        self,
        job: JobBlueprint,
        sources: dict[int, SourcePlanner],
        sizer: EpochSizer,
        snapshots: SnapshotKeeper,
        wakeups: Wakeups,
        clock: Clock,
        savepoint: Savepoint | None = None,
        may_read: Callable[[str], bool] = lambda uid: True,
        questions: StateQuestions | None = None,
        watermark_limit: Callable[[str], int | None] = lambda uid: None,
    ) -> None:
        self._places = places_of(job)
        self._parallelism = {operator.uid: operator.parallelism for operator in job.operators}
        self._ids = {operator.uid: operator.id for operator in job.operators}
        self._levels = {operator.uid: operator.level for operator in job.operators}
        uids = {operator.id: operator.uid for operator in job.operators}
        self.sources = {uids[id_]: source for id_, source in sources.items()}
        self._sizer = sizer
        self._snapshots = snapshots
        self._wakeups = wakeups
        self._clock = clock
        self._may_read = may_read
        self._questions = questions or StateQuestions()
        self._watermark_limit = watermark_limit
        self._news = threading.Condition()
        self.on_news: Callable[[], None] = lambda: None
        self._planned_at = time.monotonic()
        self._planning_ms = 0.0
        self._share = 0
        self.newest = 0  # number of the epoch that was planned last
        self._start_positions = {} if savepoint is None else restore_sources(savepoint, self.sources)

    def initial_offset(self) -> Offset:
        """Before the first epoch."""
        return {"epoch": 0, "positions": {uid: [self._start(uid), False] for uid in self.sources}}

    def _start(self, uid: str) -> Any:
        if uid in self._start_positions:
            return self._start_positions[uid]
        return self.sources[uid].initial_position(self._parallelism[uid])

    def wake(self) -> None:
        """A source has news, or somebody asks something of the job: look again at once."""
        with self._news:
            self._news.notify_all()
        self.on_news()

    def next_offset(self, start: Offset) -> Offset:
        """The end of the next epoch; waits a moment when there is none, so that nobody spins, and gives the start."""
        end = self.look(start)
        if end is None:
            with self._news:
                self._news.wait(self.idle_wait())
            end = self.look(start)
        return start if end is None else end

    def look(self, start: Offset) -> Offset | None:
        """The end of the next epoch, if there is a reason for one now."""
        began = time.monotonic()
        positions = self._look(start)
        if positions is None:
            return None
        self._planned_at = time.monotonic()
        self._planning_ms = (self._planned_at - began) * 1000
        self.newest = start["epoch"] + 1
        end = {"epoch": self.newest, "positions": positions}
        self._snapshots.begin(end)
        self._questions.begin(self.newest)
        return end

    def wake_all(self) -> None:
        """The next epoch comes at once: nobody knows any more when subtasks want to run."""
        self._wakeups.wake_all(self._places)

    def answer_wakeups(self) -> None:
        """For engines with several epochs under way: what is due must not be planned twice."""
        self._wakeups.answered()

    def _look(self, start: Offset) -> dict[str, Any] | None:
        """Where the sources are in the next epoch; None when there is no reason for one."""
        wanted = self._snapshots.wants_epoch(start["epoch"] + 1)
        due = self._wakeups.take_due()
        positions = self._advance(start["positions"])
        wanted = wanted or self._questions.wait
        return positions if wanted or due or positions != start["positions"] else None

    def _advance(self, positions: dict[str, Any]) -> dict[str, Any]:
        active = [uid for uid in self.sources if not positions[uid][1] and self._may_read(uid)]
        budget = self._share = max(1, self._sizer.budget // max(1, len(active)))
        advanced = dict(positions)
        for uid in active:
            position = self.sources[uid].advance(positions[uid][0], budget)
            advanced[uid] = [position, self.sources[uid].exhausted(position)]
        return advanced

    def idle_wait(self) -> float:
        """Seconds until it is worth looking again, unless there is news."""
        moments = [self._wakeups.next_moment, self._snapshots.next_due()]
        next_moment = min((moment for moment in moments if moment is not None), default=None)
        if next_moment is None:
            return _IDLE_WAIT_SECONDS
        return min(_IDLE_WAIT_SECONDS, max(0.0, (next_moment - self._clock()) / 1000))

    def plan(self, start: Offset, end: Offset) -> EpochPlan:
        return EpochPlan(start, end, self._planned_at, self._planning_ms, self._share)

    def works(self, plan: EpochPlan, before: EpochRecord) -> list[Work]:
        """The tasks of level 0; asked again for the same epoch after a failure, it gives the same work."""
        for uid, source in self.sources.items():
            source.begin(before.progress.get(uid))
            source.watermark_limit = self._watermark_limit(uid)
        assignments = self._assignments(plan)
        saving = self._snapshots.saving(plan.number)
        note = EpochNote(None if saving is None else saving.target, self._questions.of(plan.number))
        asked = {question.uid for question in note.questions.values()}
        woken = {place for place in self._places if saving is not None or self._runs(place, asked)}
        woken.update(self._wakeups.due)
        for level, subtask in woken:
            if level == 0:
                assignments.setdefault(subtask, {})
        if saving is not None and saving.drain:
            self._end_all_sources(assignments)
        works = [
            Work(subtask, work, before.snapshots.get(subtask), note, before.union_lists_of(0), before.commit_number)
            for subtask, work in sorted(assignments.items())
        ]
        summons = tuple(self._summons(woken, note, before))
        return [*works, Work(None, note=note, summons=summons)] if summons else works

    def _runs(self, place: Place, uids: set[str | None]) -> bool:
        return None in uids or place[0] in {self._levels.get(uid) for uid in uids if uid is not None}

    def _summons(self, woken: set[Place], note: EpochNote, before: EpochRecord) -> Iterator[tuple[Place, Summons]]:
        for level, subtask in self._places:
            lists = before.union_lists_of(level)
            if level > 0 and (lists or (level, subtask) in woken):
                yield (level, subtask), Summons((level, subtask) in woken, note, lists, before.commit_number)

    def _assignments(self, plan: EpochPlan) -> dict[int, dict[int, Assignment]]:
        """By subtask and source."""
        assignments: dict[int, dict[int, Assignment]] = {}
        for uid, source in self.sources.items():
            before, after = plan.start["positions"][uid], plan.end["positions"][uid]
            if before == after:
                continue
            for subtask, assignment in source.assignments(before[0], after[0], self._parallelism[uid]).items():
                assignments.setdefault(subtask, {})[self._ids[uid]] = assignment
        return assignments

    def _end_all_sources(self, assignments: dict[int, dict[int, Assignment]]) -> None:
        for uid in self.sources:
            for subtask in range(self._parallelism[uid]):
                planned = assignments.setdefault(subtask, {}).get(self._ids[uid], Assignment())
                assignments[subtask][self._ids[uid]] = Assignment(planned.work, True)
