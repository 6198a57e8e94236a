"""Skip strategies by their definition, on top of all matches and partial matches that the naive matcher finds."""

from __future__ import annotations

from typing import Any

from tests.unit.cep.naive_matcher import NaiveMatcher, Steps

from penstock.runtime.cep.pattern_model import all_stages


def emitted(naive: NaiveMatcher) -> list[Steps]:
    """The matches that are emitted, in order.

    A match waits as long as a partial match that began earlier may still become one; then it is emitted, and gives up
    what the strategy says.
    """
    return _Emission(naive).run()


class _Emission:
    def __init__(self, naive: NaiveMatcher) -> None:
        self.naive = naive
        self.window = naive.model.window
        self.positions = {stage.name: number for number, stage in enumerate(all_stages(naive.model.stages))}
        self.waiting: list[Steps] = []
        self.result: list[Steps] = []
        self.first_kept = 0

    def run(self) -> list[Steps]:
        naive, matches = self.naive, self.naive.matches()
        by_time = [steps for steps, completed in matches if completed == len(naive.events)]
        for index, (time, _) in enumerate(naive.events):
            self._advance(time, index - 1, by_time)
            self._line_up([steps for steps, completed in matches if completed == index])
            self._emit(self._alive(index, time))
        self._advance(None, len(naive.events) - 1, by_time)
        return self.result

    def _advance(self, time: int | None, seen: int, by_time: list[Steps]) -> None:
        """Lets time pass up to the next event, one deadline after the other."""
        if self.window is None:
            return
        deadlines = sorted({self._deadline(start) for start in range(seen + 1)})
        for deadline in deadlines:
            if time is None or deadline <= time:
                self._line_up([steps for steps in by_time if self._deadline(steps[0][1]) == deadline])
                by_time[:] = [steps for steps in by_time if self._deadline(steps[0][1]) != deadline]
                self._emit(self._alive(seen, deadline))

    def _deadline(self, start: int) -> int:
        assert self.window is not None
        return self.naive.events[start][0] + self.window

    def _alive(self, index: int, time: int) -> set[int]:
        """The first events of the partial matches that may still become matches."""
        starts = {steps[0][1] for steps in self.naive.partial(index)}
        return {start for start in starts if self.window is None or self._deadline(start) > time}

    def _line_up(self, completed: list[Steps]) -> None:
        completed = [steps for steps in completed if steps[0][1] >= self.first_kept]
        self.waiting += sorted(completed, key=self._order)
        self.waiting.sort(key=lambda steps: steps[0][1])

    def _order(self, steps: Steps) -> Any:
        return [(index, self.positions[name]) for name, index in steps]

    def _emit(self, alive: set[int]) -> None:
        skip = self.naive.model.skip
        while self.waiting:
            start = self.waiting[0][0][1]
            if skip.skips and any(self.first_kept <= other < start for other in alive):
                return
            steps = self.waiting.pop(0)
            self.result.append(steps)
            if skip.skips:
                numbers: dict[str, list[int]] = {}
                for name, index in steps:
                    numbers.setdefault(name, []).append(index)
                self.first_kept = max(self.first_kept, skip.first_kept(numbers))
                self.waiting = [other for other in self.waiting if other[0][1] >= self.first_kept]
