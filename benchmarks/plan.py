"""What is run in which order, and what is left out when the time is short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import settings

_SHARED_RUN = ("big_state", "recovery")  # one job serves both: who has filled its state can be killed then


@dataclass(frozen=True)
class Step:
    """One run of one contestant: of one case, or of those that share a run."""

    cases: tuple[str, ...]
    contestant: str
    round: int
    optional: bool = False

    @property
    def title(self) -> str:
        return f"{' + '.join(self.cases)}, {self.contestant}"


def make_plan(cases: Sequence[str], wanted: Sequence[str] | None, rounds: int) -> list[Step]:
    """The first round; the repeated ones, case by case in the opposite order; then those that may be left out.

    With `wanted`, these contestants alone, none of them optional.
    """
    steps = [
        Step(shared, contestant, 1)
        for case in cases
        for contestant in settings.CASES[case].contestants
        if (shared := _shared(case, contestant, cases))
    ]
    extra = [
        Step(shared, contestant, 1, optional=True)
        for case in cases
        for contestant in settings.CASES[case].optional
        if (shared := _shared(case, contestant, cases))
    ]
    if wanted is not None:
        steps, extra = [Step(step.cases, step.contestant, 1) for step in steps + extra if step.contestant in wanted], []
    plan = list(steps)
    for number in range(2, rounds + 1):
        for case in cases:
            again = [step for step in steps if step.cases[0] == case]
            again = [step for step in again if step.contestant in settings.CASES[case].repeated]
            ordered = reversed(again) if number % 2 == 0 else again
            plan += [Step(step.cases, step.contestant, number) for step in ordered]
    return plan + extra


def _shared(case: str, contestant: str, cases: Sequence[str]) -> tuple[str, ...]:
    """The cases of this run; none when an earlier case has taken it along."""
    if case not in _SHARED_RUN:
        return (case,)
    both = tuple(other for other in _SHARED_RUN if other in cases and contestant in _all(other))
    return both if case == both[0] else ()


def _all(case: str) -> tuple[str, ...]:
    return settings.CASES[case].contestants + settings.CASES[case].optional


class Budget:
    """Decides, step by step, whether there is time; learns from the runs that were made."""

    def __init__(self, seconds: float) -> None:
        self._total = seconds
        self._took: dict[tuple[tuple[str, ...], str], float] = {}

    def left(self, elapsed: float) -> float:
        return self._total - elapsed

    def note(self, step: Step, seconds: float) -> None:
        self._took[step.cases, step.contestant] = seconds

    def expected(self, step: Step) -> float:
        known = self._took.get((step.cases, step.contestant))
        if known is not None:
            return known
        live = [settings.LIVE_SECONDS[case] for case in step.cases if case in settings.LIVE_SECONDS]
        return max(live) if live else settings.SECONDS[step.contestant]

    def allows(self, step: Step, elapsed: float) -> bool:
        return self.expected(step) <= self.left(elapsed)
