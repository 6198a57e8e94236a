"""The input of the job that is killed, and what must come out of it, computed without the engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

USERS = 97
PAGES = 11
SITES = 3
TICK_MS = 10
PERIOD_MS = 1_000  # how long a user's views are counted before a timer reports them
WINDOW_MS = 500
LONG_MS = 2_000  # how long a site's windows are added up before a timer reports them


@dataclass(frozen=True)
class View:
    user: int
    page: int
    time: int


def view(number: int, of: int) -> View:
    """Two source subtasks read one half each; time runs through both halves alike, so that nothing is late."""
    half = of // 2
    return View(number * 7919 % USERS, number * 104_729 % PAGES, number % half * TICK_MS)


def period_end(time: int, length: int) -> int:
    return (time // length + 1) * length


def expected_lines(of: int) -> tuple[Counter[str], Counter[str]]:
    """The lines of the two sinks: reports of timers and windows, and a running count of views by user."""
    views = [view(number, of) for number in range(of)]
    periods = Counter((v.user, period_end(v.time, PERIOD_MS)) for v in views)
    # A user's report is a record of its own at the end of its period; pages are counted over reports and views.
    windows = Counter((v.page, period_end(v.time, WINDOW_MS)) for v in views)
    sites: Counter[tuple[int, int]] = Counter()
    for (page, end), count in windows.items():
        sites[page % SITES, period_end(end - 1, LONG_MS)] += count
    reports = Counter([f"site {site} until {end}: {count}" for (site, end), count in sites.items()])
    reports.update(f"user {user} until {end}: {count}" for (user, end), count in periods.items())
    totals = Counter(v.user for v in views)
    running = Counter(f"user {user} view {nth}" for user, total in totals.items() for nth in range(1, total + 1))
    return reports, running
