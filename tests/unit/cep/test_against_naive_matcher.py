"""Thousands of random patterns and streams: the automaton finds what the definition says, and nothing else."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from tests.unit.cep.feeding import TIMED_OUT, harness_of
from tests.unit.cep.naive_matcher import NaiveMatcher, Steps
from tests.unit.cep.naive_skipping import emitted

from penstock.cep import AfterMatchSkipStrategy, Pattern, WithinType
from penstock.common.time import Time
from penstock.runtime.cep.conditions import Condition
from penstock.runtime.cep.pattern_model import Stage

ROUNDS, PATTERNS_PER_ROUND = 30, 50
LETTERS = "abcd"


@dataclass(frozen=True)
class OneOf:
    letters: str

    def __call__(self, event: str) -> bool:
        return event in self.letters

    def __repr__(self) -> str:
        return self.letters


@dataclass(frozen=True)
class OneOfAfter:
    letters: str
    name: str
    parity: int

    def __call__(self, event: str, ctx: Any) -> bool:
        return event in self.letters and len(ctx.get_events_for_pattern(self.name)) % 2 == self.parity

    def __repr__(self) -> str:
        return f"{self.letters} if {self.name} % 2 == {self.parity}"


def described(stages: tuple[Stage, ...]) -> str:
    """A pattern in a form that can be read when a test fails."""
    parts = []
    for stage in stages:
        words = [stage.negation.name if stage.negation else stage.contiguity.name, stage.name]
        words.append(f"({described(stage.group)})" if stage.group else f"[{text_of(stage.condition)}]")
        words.append(f"{{{stage.at_least},{stage.at_most}}} {stage.inner.name}" if stage.quantified else "")
        words += [word for word, said in (("?", stage.optional), ("greedy", stage.greedy)) if said]
        words.append(f"until {text_of(stage.until)}" if stage.until else "")
        words.append(f"window {stage.window} gap {stage.gap}")
        parts.append(" ".join(words))
    return "\n  ".join(parts)


def text_of(condition: Condition | None) -> str:
    if condition is None:
        return "all"
    call: Any = condition.call
    while not hasattr(call, "left"):
        if not hasattr(call, "call"):
            return repr(call)
        call = call.call
    return f"{getattr(call.left, 'call', call.left)} or {getattr(call.right, 'call', call.right)}"


class RandomPattern:
    """A pattern, made of everything that can be said about patterns."""

    def __init__(self, source: random.Random, skipping: bool = False, gaps: bool = True) -> None:
        self.source = source
        self.gaps = gaps
        self.names: list[str] = []
        skip = self._skip() if skipping else None
        self.pattern = self._stages(source.randint(1, 3), skip)
        if source.random() < 0.5 and self.pattern._stage.negation is None:
            self._negation()
            if self.pattern._stage.negation is not None and self.pattern._stage.name.startswith("followed"):
                self.pattern.within(Time.milliseconds(source.randint(2, 8)))
        if source.random() < 0.3:
            self.pattern.within(Time.milliseconds(source.randint(2, 8)))

    def _skip(self) -> AfterMatchSkipStrategy:
        choice = self.source.randrange(5)
        strategy = AfterMatchSkipStrategy
        if choice >= 3:
            self.names.append("s0")
            return strategy.skip_to_first("s0") if choice == 3 else strategy.skip_to_last("s0")
        return [strategy.no_skip, strategy.skip_to_next, strategy.skip_past_last_event][choice]()

    def condition(self) -> Any:
        letters = "".join(self.source.sample(LETTERS, self.source.choice([1, 1, 2])))
        if self.names and self.source.random() < 0.2:
            name, parity = self.source.choice(self.names), self.source.randrange(2)
            return OneOfAfter(letters, name, parity)
        return OneOf(letters)

    def _stages(self, count: int, skip: AfterMatchSkipStrategy | None, depth: int = 0) -> Pattern:
        source = self.source
        self.pattern = Pattern.begin("s0" if depth == 0 else self._name(), skip)
        self._quantify(last_in_group=depth == 1 and count == 1)
        for position in range(count - 1):
            if source.random() < 0.3:
                self._negation()
            how = source.choice(["next", "followed_by", "followed_by_any"])
            if depth == 0 and source.random() < 0.2:
                outer = self.pattern
                group = RandomGroup(self).pattern
                self.pattern = getattr(outer, how)(group)
                self._quantify_group()
            else:
                self.pattern = getattr(self.pattern, how)(self._name())
                self._quantify(last_in_group=depth == 1 and position == count - 2)
        return self.pattern

    def _name(self) -> str:
        name = f"s{len(self.names) + 1}"
        self.names.append(name)
        return name

    def _negation(self) -> None:
        stage = self.pattern._stage
        if stage.optional or (stage.group and (stage.group[-1].loops or stage.group[-1].optional)):
            return
        number = len(self.names)
        self.names.append(f"not{number}")
        if self.source.random() < 0.5:
            self.pattern = self.pattern.not_next(f"next{number}").where(self.condition())
        else:
            self.pattern = self.pattern.not_followed_by(f"followed{number}").where(self.condition())

    def _quantify(self, last_in_group: bool = False) -> None:
        source, pattern = self.source, self.pattern
        if source.random() < 0.9:
            pattern.where(self.condition())
            if source.random() < 0.2:
                pattern.or_(self.condition())
        kind = source.randrange(6)
        if kind == 0:
            pattern.one_or_more()
        elif kind == 1:
            pattern.times_or_more(2)
        elif kind == 2:
            pattern.times(source.randint(1, 3))
        elif kind == 3:
            least = source.randint(0, 2)
            pattern.times(least, least + source.randint(1, 2))
        if kind < 4:
            self._loop(kind, last_in_group)
        if source.random() < 0.25 and not pattern._stage.optional:
            pattern.optional()
        if self.gaps and pattern._previous is not None and source.random() < 0.15:
            pattern.within(Time.milliseconds(source.randint(1, 2)), WithinType.PREVIOUS_AND_CURRENT)

    def _loop(self, kind: int, last_in_group: bool) -> None:
        source, pattern = self.source, self.pattern
        between = source.randrange(3)
        if between == 1:
            pattern.consecutive()
        elif between == 2:
            pattern.allow_combinations()
        if source.random() < 0.3 and not last_in_group and pattern._stage.condition is not None:
            pattern.greedy()
        if kind < 2 and source.random() < 0.3:
            pattern.until(self.condition())

    def _quantify_group(self) -> None:
        source, pattern = self.source, self.pattern
        if all(stage.optional or stage.negation for stage in pattern._stage.group):
            return
        kind = source.randrange(4)
        if kind == 0:
            pattern.one_or_more()
        elif kind == 1:
            pattern.times(2)
        elif kind == 2:
            pattern.times(1, 2)
        if kind < 3 and source.random() < 0.3:
            source.choice([pattern.consecutive, pattern.allow_combinations])()
        if source.random() < 0.3:
            pattern.optional()


class RandomGroup(RandomPattern):
    """The stages of a group, with names that the pattern around it does not have."""

    def __init__(self, outer: RandomPattern) -> None:
        self.source, self.names, self.gaps, self.outer = outer.source, outer.names, outer.gaps, outer
        self._stages(self.source.randint(1, 2), None, depth=1)

    def condition(self) -> Any:
        return self.outer.condition()


def random_events(source: random.Random, length: int) -> list[tuple[int, str]]:
    time, events = 0, []
    for _ in range(length):
        time += source.choice([0, 1, 1, 1, 2])
        events.append((time, source.choice(LETTERS)))
    return events


class Indexed(str):
    """An event that knows its place in the stream, so that matches can be compared exactly."""

    index: int


def indexed(events: list[tuple[int, str]]) -> list[tuple[int, Indexed]]:
    marked = []
    for index, (time, letter) in enumerate(events):
        event = Indexed(letter)
        event.index = index
        marked.append((time, event))
    return marked


def steps_of(match: dict[str, list[Any]]) -> Steps:
    """The events of a match in order, with their stages."""
    steps = [(name, event.index) for name, events in match.items() for event in events]
    return tuple(sorted(steps, key=lambda step: step[1]))


def found_by_automaton(case: RandomPattern, events: list[tuple[int, str]]) -> tuple[list[Steps], set[Steps]]:
    harness = harness_of(case.pattern)
    for time, event in indexed(events):
        if case.source.random() < 0.3:
            harness.watermark(time - 1)
        if case.source.random() < 0.2:
            harness.restart(full=case.source.random() < 0.3)
        harness.push(event, timestamp=time)
    harness.end_of_input()
    state: Any = harness.operator
    left = state.matchers()[""].sizes()
    if case.pattern._model().window is not None:
        assert left == (0, 0), "time is over, but something is kept"
    timed_out = {steps_of(match) for match, _ in harness.side(TIMED_OUT.tag_id).values}
    return [steps_of(match) for match in harness.output.values], timed_out


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_all_matches_are_found(seed: int) -> None:
    source = random.Random(seed)
    for number in range(PATTERNS_PER_ROUND):
        case = RandomPattern(source)
        events = random_events(source, source.randint(1, 6))
        expected = [steps for steps, _ in NaiveMatcher(case.pattern._model(), events).matches()]
        found, _ = found_by_automaton(case, events)
        assert sorted(found) == sorted(expected), f"{number}: {events}\n  {described(case.pattern._stages())}"


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_skip_strategies_emit_the_right_ones_in_the_right_order(seed: int) -> None:
    source = random.Random(1000 + seed)
    for number in range(PATTERNS_PER_ROUND):
        case = RandomPattern(source, skipping=True, gaps=False)
        events = random_events(source, source.randint(1, 6))
        expected = emitted(NaiveMatcher(case.pattern._model(), events))
        found, _ = found_by_automaton(case, events)
        skip = case.pattern._model().skip
        if not skip.skips:
            found, expected = sorted(found), sorted(expected)
        assert found == expected, f"{number}: {events} {skip}\n  {described(case.pattern._stages())}"


@pytest.mark.parametrize("seed", range(ROUNDS // 2))
def test_partial_matches_time_out_when_their_window_is_over(seed: int) -> None:
    source = random.Random(2000 + seed)
    for number in range(PATTERNS_PER_ROUND):
        case = RandomPattern(source, gaps=False)
        if case.pattern._stage.negation is not None:
            continue  # there time completes matches
        window = source.randint(2, 6)
        case.pattern.within(Time.milliseconds(window))
        events = random_events(source, source.randint(1, 6))
        naive = NaiveMatcher(case.pattern._model(), events)
        window = naive.model.window or 0
        expected = set()
        for start, (time, _) in enumerate(events):
            seen = max(index for index, (other, _) in enumerate(events) if other - time < window)
            expected |= {steps for steps in naive.partial(seen) if steps[0][1] == start}
        _, timed_out = found_by_automaton(case, events)
        assert timed_out == expected, f"{number}: {events}\n  {described(case.pattern._stages())}"
