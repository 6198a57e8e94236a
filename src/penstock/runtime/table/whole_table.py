"""`lookup.cache` FULL: the whole table is read at the first question, and again when that is due."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from penstock.functions.lookup import LookupFunction
from penstock.runtime.clock import Clock
from penstock.runtime.table.lookup_cache import Found, Key


@dataclass(frozen=True)
class Reloads:
    """After so many milliseconds, or at a time of the day every so many days.

    The interval begins when the table was read, or (`fixed_rate`) when reading it began. A time without zone is local.
    """

    interval: int | None = None
    fixed_rate: bool = False
    at: datetime.time | None = None
    days: int = 1

    def due_after(self, began: int, ended: int) -> int:
        if self.at is None:
            assert self.interval is not None
            return (began if self.fixed_rate else ended) + self.interval
        before = datetime.datetime.fromtimestamp(began / 1000, self.at.tzinfo)
        today = datetime.datetime.combine(before.date(), self.at)
        later = today if today > before else today + datetime.timedelta(days=self.days)
        return int(later.timestamp() * 1000)


class WholeTable:
    """It is no state: after a restart the table is read anew. A failure to read it is one of the job."""

    def __init__(self, function: LookupFunction, reloads: Reloads, clock: Clock) -> None:
        self._function = function
        self._reloads = reloads
        self._clock = clock
        self._rows: dict[Key, Found] = {}
        self._due: int | None = None

    def rows_of(self, keys: list[Key]) -> dict[Key, Found]:
        if self._due is None or self._clock() >= self._due:
            began = self._clock()
            self._rows = self._function.everything()
            self._due = self._reloads.due_after(began, self._clock())
        return {key: self._rows[key] for key in keys if key in self._rows}
