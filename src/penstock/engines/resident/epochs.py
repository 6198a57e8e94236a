"""Epochs of a resident job: planned ahead while others are under way, completed in order. The record is the commit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from penstock.control.engine import EngineJob
from penstock.control.job_machine import OutputClosed
from penstock.control.work import EpochPlan, Offset, Work, places_of
from penstock.engines.resident.barriers import EpochsInFlight
from penstock.engines.resident.messages import Reported, RunEpoch
from penstock.runtime.epoch_note import NOTHING_WANTED
from penstock.runtime.report import SubtaskReport, read_report

IN_FLIGHT = 3
_SHORTEST_WAIT_SECONDS = 0.001  # something may be due that has to wait for something else


class Epochs:
    """Knows what is planned, and what of it is complete."""

    def __init__(
        self,
        job: EngineJob,
        interval_seconds: float,
        timeout_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job = job
        self._interval = interval_seconds
        self._clock = clock
        self._flight: EpochsInFlight[EpochPlan, SubtaskReport] = EpochsInFlight(
            places_of(job.blueprint), self._limit(), timeout_seconds
        )
        self._offset: Offset = {}
        self._saving: int | None = None  # the epoch that is being saved: the next one waits for it
        self._output_closed = False
        self._next_at = self._planned_last = 0.0
        self._full_since: float | None = None
        self._waited = 0.0  # for room, until somebody knows whether there was something to read

    def _limit(self) -> int:
        """One at a time if a source has to hear how far its readers came, or a sink what is committed, to go on."""
        ahead = all(source.ahead for source in self._job.planner.sources.values())
        heard = any(getattr(op.function, "writers_hear_commits", False) for op in self._job.blueprint.operators)
        return IN_FLIGHT if ahead and not heard else 1

    def begin(self) -> None:
        """Before an attempt: an earlier one may have died between the record and its results."""
        self.roll_back()
        self._publish()

    def roll_back(self) -> None:
        """To the last record; what was under way never becomes visible."""
        self._flight.abandon()
        self._saving = None
        self._full_since, self._waited = None, 0.0
        latest = self._job.completion.store.latest
        self._offset = latest.offset or self._job.planner.initial_offset()
        self._job.planner.wake_all()
        self._next_at = 0.0

    def look_soon(self) -> None:
        """There is news from a source, or somebody asks something of the job."""
        self._next_at = min(self._next_at, self._planned_last + self._interval)

    def seconds_to_next_look(self) -> float:
        """Without end while only reports can change anything."""
        return max(0.0, self._next_at - self._clock()) if self._may_plan else math.inf

    @property
    def _may_plan(self) -> bool:
        ended = self._job.completion.ended or self._output_closed
        return self._flight.room and self._saving is None and not ended

    def plan(self, generation: int) -> RunEpoch | None:
        """The next epoch, if there is a reason and room for one."""
        now = self._clock()
        if not self._may_plan or now < self._next_at:
            return None
        self._job.fence()
        planner = self._job.planner
        end = planner.look(self._offset)
        waited, self._waited = self._waited, 0.0
        if end is None:
            self._job.completion.held_up(0.0)
            self._next_at = now + max(planner.idle_wait(), _SHORTEST_WAIT_SECONDS)
            return None
        self._job.completion.held_up(waited)
        plan = planner.plan(self._offset, end)
        works = planner.works(plan, self._job.completion.store.latest)
        planner.answer_wakeups()
        self._flight.begin(plan.number, plan, now)
        self._full_since = None if self._flight.room else now
        self._offset, self._planned_last, self._next_at = end, now, now + self._interval
        return self._message(generation, plan.number, works)

    def _message(self, generation: int, number: int, works: list[Work]) -> RunEpoch:
        note = next((work.note for work in works if work.note), NOTHING_WANTED)
        self._saving = number if note.saving is not None else None
        assignments = {work.subtask: work.assignments for work in works if work.subtask is not None}
        committed = self._job.completion.store.latest.commit_number
        return RunEpoch(generation, number, assignments, note.encode(), committed)

    def report(self, message: Reported) -> bool:
        """Whether an epoch is complete with it: its record is written, and its results are visible."""
        now = self._clock()
        complete = self._flight.report(message.epoch, message.place, read_report(message.report), now)
        if self._full_since is not None and self._flight.room:
            self._waited, self._full_since = now - self._full_since, None
        for plan, reports in complete:
            self._job.fence()
            self._job.completion.complete(plan, reports)
            if plan.number == self._saving:  # not an earlier one: the job may stop with it, and nothing come after
                self._saving = None
            self._publish()
        return bool(complete)

    def _publish(self) -> None:
        try:
            self._job.completion.publish()
        except BrokenPipeError:
            # Whoever reads the program's output has had enough (`| head`): the job ends as if it had been cancelled.
            self._output_closed = True
            self._job.tell(OutputClosed())

    def overdue(self, listened_at: float) -> tuple[int, list[tuple[int, int]]] | None:
        """An epoch that takes longer than a checkpoint may, and who had not reported when somebody last listened.

        A commit that takes long keeps the driver from hearing the reports of the next epochs.
        """
        return self._flight.overdue(listened_at)

    def stop(self) -> None:
        self._flight.abandon()
