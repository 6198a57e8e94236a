"""When subtasks want to run although nothing arrives for them: their timers by the clock."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.control.work import Place
from penstock.runtime.clock import Clock
from penstock.runtime.report import SubtaskReport


class Wakeups:
    """For engines whose subtasks only run in epochs that concern them; what always runs looks at the clock itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moments: dict[Place, int] = {}
        self.due: tuple[Place, ...] = ()  # in the epoch that was planned last

    def wake_all(self, places: Iterable[Place]) -> None:
        """In the next epoch, whatever the clock says."""
        self._moments = dict.fromkeys(places, 0)
        self.due = tuple(self._moments)

    def take_due(self) -> bool:
        now = self._clock()
        self.due = tuple(place for place, moment in self._moments.items() if moment <= now)
        return bool(self.due)

    def answered(self) -> None:
        """An epoch that will not be planned again is under way: until its reports come nobody has to be woken."""
        for place in self.due:
            self._moments.pop(place, None)

    def learn(self, reports: Iterable[SubtaskReport]) -> None:
        for report in reports:
            place = (report.level, report.subtask)
            self._moments.pop(place, None)
            if report.next_processing_time is not None:
                self._moments[place] = report.next_processing_time

    @property
    def next_moment(self) -> int | None:
        return min(self._moments.values(), default=None)
