"""Sources that are read one after the other, as one: what the driver plans of them.

A position is [number of the source, its position]. When a source is exhausted, an epoch without records moves on to the
beginning of the next one, so that no epoch has to know two sources. A source is opened when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.runtime.sources.base import Assignment, SourcePlanner

Position = list[Any]


@dataclass(frozen=True)
class HybridParts:
    """For the operator: the kind and the reader of each source."""

    parts: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class HybridWork:
    """Work of one of the sources; whether its end is that of the whole."""

    index: int
    last: bool
    work: Any


class HybridPlanner(SourcePlanner):
    """Leaves everything to the planner whose turn it is."""

    kind = "hybrid_source"

    def __init__(self, planners: list[SourcePlanner]) -> None:
        self._planners = planners
        self._last = len(planners) - 1
        self.bounded = planners[-1].bounded
        self.ahead = all(planner.ahead for planner in planners)
        self.max_parallelism = 1 if any(planner.max_parallelism == 1 for planner in planners) else None
        self._opened: set[int] = set()
        self._running = 0  # the source that the epoch reads
        self._place: tuple[int, str, Callable[[], None]] | None = None

    def reader(self) -> HybridParts:
        return HybridParts(tuple((planner.kind, planner.reader()) for planner in self._planners))

    def open(self, parallelism: int, directory: str, wake: Callable[[], None]) -> None:
        self._place = parallelism, directory, wake

    def _at(self, index: int) -> SourcePlanner:
        planner = self._planners[index]
        if index not in self._opened and self._place is not None:
            self._opened.add(index)
            parallelism, directory, wake = self._place
            planner.runtime_context = self.runtime_context
            planner.open(parallelism, f"{directory}/{index}", wake)
        return planner

    def close(self) -> None:
        for index in self._opened:
            self._planners[index].close()

    # -- planning ----------------------------------------------------------------------------------------------

    def initial_position(self, parallelism: int) -> Position:
        return [0, self._at(0).initial_position(parallelism)]

    def advance(self, position: Position, budget: int) -> Position:
        index, inner = position
        planner = self._at(index)
        if index < self._last and planner.exhausted(inner):
            assert self._place is not None
            return [index + 1, self._at(index + 1).initial_position(self._place[0])]
        return [index, planner.advance(inner, budget)]

    def exhausted(self, position: Position) -> bool:
        index, inner = position
        return bool(index == self._last and self._at(index).exhausted(inner))

    def begin(self, progress: tuple[int, Any] | None) -> None:
        if progress is not None:
            self._running = progress[0]
        self._at(self._running).begin(None if progress is None else progress[1])

    def assignments(self, start: Position, end: Position, parallelism: int) -> dict[int, Assignment]:
        index = start[0]
        if index != self._running:
            self._running = index
            self._at(index).begin(None)
        if index != end[0]:
            return {}
        last = index == self._last
        self._at(index).watermark_limit = self.watermark_limit
        planned = self._at(index).assignments(start[1], end[1], parallelism)
        return {
            subtask: Assignment(None if a.work is None else HybridWork(index, last, a.work), a.final and last)
            for subtask, a in planned.items()
            if a.work is not None or last
        }

    def completed(self, reports: list[Any]) -> tuple[int, Any]:
        index = self._running
        mine = [report for of, report in reports if of == index]
        return index, self._at(index).completed(mine)

    def on_commit(self, position: Position) -> None:
        self._at(position[0]).on_commit(position[1])

    # -- going on ----------------------------------------------------------------------------------------------

    def recover(self, progress: tuple[int, Any] | None) -> None:
        if progress is not None:
            self._running = progress[0]
            self._planners[self._running].recover(progress[1])

    def savepoint_state(self, position: Position) -> Any:
        return self._running, self._at(position[0]).savepoint_state(position[1])

    def restore_savepoint(self, position: Position, state: Any) -> Position:
        index, inner = position
        self._running = index
        return [index, self._planners[index].restore_savepoint(inner, state[1] if state[0] == index else None)]
