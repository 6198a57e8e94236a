"""Patterns by their definition: every choice of events is tried and checked. Slow, and nothing like the automaton.

A pattern is first written out into *scripts*, one for each way to repeat or leave out its stages: a list of waits, each
for one event. Then every event is tried for every wait, and what lies between is checked against the wait's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.runtime.cep.conditions import Condition
from penstock.runtime.cep.pattern_model import Contiguity, Negation, PatternModel, Stage

Step = tuple[str, int]  # name of the stage, index of the event
Steps = tuple[Step, ...]


@dataclass
class Wait:
    """For one event of a stage. The rules hold for events after the match's last one."""

    stage: Stage
    contiguity: Contiguity
    gap: int | None
    passing_until: list[Any]  # such events cannot be passed over
    taking_until: list[Any]  # nor taken
    forbidden: list[Any] = field(default_factory=list)  # end the match
    forbidden_first: list[Any] = field(default_factory=list)  # the same, as the very next event
    gates: list[Any] = field(default_factory=list)  # must not fit the very next event
    greedy: list[tuple[Any, Any, bool]] = field(default_factory=list)  # condition, until, for all events


@dataclass
class End:
    """How a script ends: with its last event, by one more event, or by time."""

    kind: str  # "event", "next" or "time"
    rules: Wait


@dataclass
class Script:
    waits: list[Wait]
    end: End


class NaiveMatcher:
    """Events are (timestamp, value), in order."""

    def __init__(self, model: PatternModel, events: list[tuple[int, Any]]) -> None:
        self.model = model
        self.events = events
        self.longest = len(events) + 1  # scripts end here: nobody gets beyond a wait without event
        tokens = dict.fromkeys(tuple(tokens) for tokens in self._sequence(model.stages, None, ()))
        scripts = [self._script(list(written)) for written in tokens]
        self.scripts = [script for script in scripts if script.waits]  # nothing at all is no match

    # -- scripts -----------------------------------------------------------------------------------------------

    def _sequence(self, stages: tuple[Stage, ...], until: Any, entry: tuple[Any, ...]) -> Iterator[Any]:
        """Token lists; `entry` overrides how the first stage is entered: (contiguity, gap)."""
        if not stages:
            yield []
            return
        stage, rest = stages[0], stages[1:]
        tails = list(self._sequence(rest, until, ()))
        if stage.negation is Negation.FOLLOWED_BY:
            yield from ([("not", stage.condition), *tail] for tail in tails)
        elif stage.negation is Negation.NEXT:
            yield from ([("not next", stage.condition), *tail] for tail in tails)
        else:
            for head in self._stage(stage, rest, until, entry):
                if _takes(head) == self.longest:
                    yield head
                else:
                    yield from dict.fromkeys(tuple(self._cut([*head, *tail])) for tail in tails)

    def _stage(self, stage: Stage, rest: tuple[Stage, ...], until: Any, entry: tuple[Any, ...]) -> Iterator[list[Any]]:
        contiguity, gap = (entry[0], stage.gap or entry[1]) if entry else (stage.contiguity, stage.gap)
        most = max(self.longest, stage.at_least) if stage.at_most is None else stage.at_most
        leave = [("leave", stage, rest)] if stage.greedy and (stage.optional or stage.at_least != stage.at_most) else []
        gate = [("gate", until)] if until is not None else []
        if stage.optional:
            yield [*leave, *gate]
        for count in range(stage.at_least, most + 1):
            for rounds in self._rounds(stage, count, contiguity, gap, until, rest):
                left_early = gate if (stage.at_most is None or count < stage.at_most) and not stage.group else []
                yield [*rounds, *leave, *left_early]

    def _rounds(
        self, stage: Stage, count: int, contiguity: Any, gap: Any, until: Any, rest: tuple[Stage, ...]
    ) -> Iterator[list[Any]]:
        def one(number: int) -> Iterator[list[Any]]:
            how = (contiguity, gap) if number == 0 else (stage.inner, stage.inner_gap or stage.gap)
            loop: list[Any] = []
            if number > 0 and rest and rest[0].negation is Negation.FOLLOWED_BY:
                loop.append(("not", rest[0].condition))
            if number >= stage.at_least and rest and rest[0].negation is Negation.NEXT:
                loop.append(("not first", _unless_greedy(rest[0].condition, stage)))
            if not stage.group:
                yield [*loop, ("take", stage, *how, number > 0, until)]
                return
            for inside in self._sequence(stage.group, stage.until, how):
                yield loop + list(inside)

        if count == 0:
            yield []
            return
        for before in self._rounds(stage, count - 1, contiguity, gap, until, rest):
            if _takes(before) == self.longest:
                yield before
            else:
                for last in one(count - 1):
                    yield self._cut(before + last)

    def _cut(self, tokens: list[Any]) -> list[Any]:
        takes = 0
        for position, token in enumerate(tokens):
            takes += token[0] == "take"
            if takes == self.longest:
                return tokens[: position + 1]
        return tokens

    def _script(self, tokens: list[Any]) -> Script:
        waits: list[Wait] = []
        rules = _no_rules()
        kind = "event"
        for token in tokens:
            match token:
                case ("take", stage, contiguity, gap, inner, until):
                    outer = [until] if until is not None else []
                    own = [stage.until] if stage.until is not None else []
                    rules.stage, rules.contiguity, rules.gap = stage, contiguity, gap
                    rules.passing_until, rules.taking_until = outer + (own if inner else []), outer + own
                    waits.append(rules)
                    rules, kind = _no_rules(), "event"
                case ("not", condition):
                    rules.forbidden.append(condition)
                case ("not next", condition):
                    rules.forbidden_first.append(condition)
                    rules.gates.append(condition)
                    kind = "next"
                case ("not first", condition):
                    rules.forbidden_first.append(condition)
                case ("gate", condition):
                    rules.gates.append(condition)
                case ("leave", stage, rest):
                    if rest:
                        rules.greedy.append((stage.condition, stage.until, _is_one_wait(rest)))
        last = self.model.stages[-1]
        if last.negation is Negation.FOLLOWED_BY:
            kind, rules.gap = "time", last.gap
        return Script(waits, End(kind, rules))

    # -- matches -----------------------------------------------------------------------------------------------

    def matches(self) -> list[tuple[Steps, int]]:
        """Every match with the index of the event that completes it; with their number for those decided by time."""
        found = set()
        for script in self.scripts:
            if len(script.waits) > len(self.events):
                continue
            for steps in self._assignments(script, len(script.waits)):
                completed = self._completed(script, steps)
                if completed is not None:
                    found.add((steps, completed))
        return sorted(found, key=lambda match: (match[1], _order(match[0])))

    def _assignments(self, script: Script, length: int) -> Iterator[Steps]:
        """Ways to choose events for the first waits of a script."""
        if length == 0:
            yield ()
            return
        ends = length == len(script.waits) and script.end.kind == "event"
        for before in self._assignments(script, length - 1):
            wait = script.waits[length - 1]
            first = before[-1][1] + 1 if before else 0
            for index in range(first, len(self.events)):
                if self._takes(wait, before, index, ends):
                    yield (*before, (wait.stage.name, index))
                if before and not self._passes(wait, before, index):
                    break

    def _takes(self, wait: Wait, before: Steps, index: int, ends: bool) -> bool:
        fits = self._fits
        if not fits(wait.stage.condition, before, index) or any(fits(c, before, index) for c in wait.taking_until):
            return False
        if not before:
            # Nothing to be contiguous to; but a greedy stage that was left out must not have fitted.
            return self._lets_through(wait, before, index, first=True)
        if not self._in_time(wait, before, index):
            return False
        is_next = index == before[-1][1] + 1
        if not self._lets_through(wait, before, index, is_next):
            return False
        stopped = self._stopped(wait, before, index)
        return not stopped or ends

    def _passes(self, wait: Wait, before: Steps, index: int) -> bool:
        """Whether a match can go on waiting after the event."""
        if not self._in_time(wait, before, index) or self._stopped(wait, before, index):
            return False
        if not self._lets_through(wait, before, index, index == before[-1][1] + 1):
            return False
        if any(self._fits(condition, before, index) for condition in wait.passing_until):
            return False
        if wait.contiguity is Contiguity.RELAXED:
            return wait.stage.condition is not None and not self._fits(wait.stage.condition, before, index)
        return wait.contiguity is Contiguity.ANY

    def _stopped(self, wait: Wait, before: Steps, index: int) -> bool:
        forbidden = list(wait.forbidden)
        if index == before[-1][1] + 1:
            forbidden += wait.forbidden_first
        return any(self._fits(condition, before, index) for condition in forbidden)

    def _lets_through(self, wait: Wait, before: Steps, index: int, first: bool) -> bool:
        if first and any(self._fits(condition, before, index) for condition in wait.gates):
            return False
        origin = before[-1][1] + 1 if before else index
        for condition, until, always in wait.greedy:
            if until is not None and self._fits(until, before, origin):
                continue
            if (first or always) and self._fits(condition, before, index):
                return False
        return True

    def _in_time(self, wait: Wait, before: Steps, index: int) -> bool:
        time, start, last = (self.events[i][0] for i in (index, before[0][1], before[-1][1]))
        window = self.model.window
        return (window is None or time - start < window) and (wait.gap is None or time - last < wait.gap)

    def _fits(self, condition: Any, before: Steps, index: int) -> bool:
        if condition is None:
            return True
        value = self.events[index][1]
        if not condition.iterative:
            return bool(condition.call(value))
        return bool(condition.call(value, _Context(before, self.events)))

    def _completed(self, script: Script, steps: Steps) -> int | None:
        rules, last = script.end.rules, steps[-1][1]
        match script.end.kind:
            case "event":
                # What a greedy stage would have taken cannot complete the match without it.
                before = steps[:-1]
                for condition, until, _ in rules.greedy:
                    if not (until is not None and self._fits(until, before, last)) and self._fits(
                        condition, before, last
                    ):
                        return None
                if any(self._fits(condition, before, last) for condition in rules.gates):
                    return None
                return last
            case "next":
                follows = last + 1
                if follows == len(self.events) or not self._in_time(rules, steps, follows):
                    return None
                if not self._lets_through(rules, steps, follows, first=True):
                    return None
                forbidden = any(self._fits(c, steps, follows) for c in rules.forbidden_first)
                return None if forbidden else follows
            case _:
                return len(self.events) if self._survives(rules, steps, len(self.events)) else None

    def _survives(self, rules: Wait, steps: Steps, until_index: int) -> bool:
        """Whether nothing forbidden comes before the time is over, or before an event."""
        for index in range(steps[-1][1] + 1, until_index):
            if not self._in_time(rules, steps, index):
                return True
            first = index == steps[-1][1] + 1
            if self._stopped(rules, steps, index) or not self._lets_through(rules, steps, index, first):
                return False
        return True

    # -- partial matches ---------------------------------------------------------------------------------------

    def partial(self, index: int) -> set[Steps]:
        """All partial matches that wait for something after the event has been seen (in time or not)."""
        alive: set[Steps] = set()
        for script in self.scripts:
            for length in range(1, min(len(script.waits), len(self.events)) + 1):
                for steps in self._assignments(script, length):
                    if steps[-1][1] <= index and self._waits(script, length, steps, index):
                        alive.add(steps)
        return alive

    def _waits(self, script: Script, length: int, steps: Steps, index: int) -> bool:
        ends = length == len(script.waits)
        if ends and script.end.kind == "event":
            return False
        if not ends:
            wait = script.waits[length]
            return all(self._passes(wait, steps, i) for i in range(steps[-1][1] + 1, index + 1))
        if script.end.kind == "next":
            return steps[-1][1] == index
        return all(
            self._in_time(script.end.rules, steps, i) for i in range(steps[-1][1] + 1, index + 1)
        ) and self._survives(script.end.rules, steps, index + 1)


@dataclass
class _Context:
    before: Steps
    events: list[tuple[int, Any]]

    def get_events_for_pattern(self, name: str) -> list[Any]:
        return [self.events[index][1] for stage, index in self.before if stage == name]


def _no_rules() -> Wait:
    return Wait(Stage("none"), Contiguity.ANY, None, [], [])


def _unless_greedy(forbidden: Condition | None, stage: Stage) -> Any:
    """What a greedy loop would take does not lead out of it, so that nothing is forbidden there."""
    if not stage.greedy or forbidden is None or stage.condition is None:
        return forbidden
    stays, over = stage.condition.in_context(), stage.until.in_context() if stage.until is not None else None

    def applies(event: Any, ctx: Any) -> bool:
        leaves = not stays(event, ctx) or (over is not None and over(event, ctx))
        return leaves and bool(forbidden.in_context()(event, ctx))

    return Condition(applies, True)


def _takes(tokens: list[Any]) -> int:
    return sum(token[0] == "take" for token in tokens)


def _is_one_wait(stages: tuple[Stage, ...]) -> bool:
    """Whether what follows is a wait for one stage, and not a choice."""
    if not stages:
        return False
    stage = stages[0]
    if stage.negation is Negation.FOLLOWED_BY:
        return len(stages) == 1 or _is_one_wait(stages[1:])
    if stage.negation is not None or stage.optional:
        return False
    return not stage.group or _is_one_wait(stage.group)


def _order(steps: Steps) -> list[int]:
    return [index for _, index in steps]
