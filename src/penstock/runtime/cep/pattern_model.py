"""A pattern as data: what the fluent API writes, and the compiler reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from penstock.runtime.cep.conditions import Condition
from penstock.runtime.cep.skip_strategy import AfterMatchSkipStrategy, NoSkipStrategy


class Contiguity(Enum):
    """Which events may lie between one event of a match and the next."""

    STRICT = "none"
    RELAXED = "those that do not fit"
    ANY = "all"


class Negation(Enum):
    """Stages that must not occur."""

    NEXT = "the next event must not fit"
    FOLLOWED_BY = "no event until the next stage must fit"


class WithinType(Enum):
    """Between which events the time of ``Pattern.within()`` is measured."""

    PREVIOUS_AND_CURRENT = "previous and current"
    FIRST_AND_LAST = "first and last"


@dataclass(frozen=True)
class Stage:
    """One named part of a pattern, or a group of parts."""

    name: str
    contiguity: Contiguity = Contiguity.STRICT  # to what came before
    negation: Negation | None = None
    condition: Condition | None = None  # none: every event fits
    group: tuple[Stage, ...] = ()
    at_least: int = 1
    at_most: int | None = 1  # none: any number
    quantified: bool = False  # the user said how often
    inner: Contiguity = Contiguity.RELAXED  # between the events of a loop
    optional: bool = False
    greedy: bool = False
    until: Condition | None = None
    window: int | None = None  # milliseconds between the first and the last event of the match
    gap: int | None = None  # milliseconds between the previous event of the match and this one
    inner_gap: int | None = None  # the same, between the events of a loop

    @property
    def loops(self) -> bool:
        return self.at_most is None or self.at_most > 1


@dataclass(frozen=True)
class PatternModel:
    """A whole pattern."""

    stages: tuple[Stage, ...]
    skip: AfterMatchSkipStrategy = field(default_factory=NoSkipStrategy)

    @property
    def window(self) -> int | None:
        """The shortest time that any stage gives to the whole match."""
        return min((stage.window for stage in all_stages(self.stages) if stage.window is not None), default=None)


def all_stages(stages: tuple[Stage, ...]) -> list[Stage]:
    """The stages in their order, groups before what is in them."""
    found: list[Stage] = []
    for stage in stages:
        found.append(stage)
        found += all_stages(stage.group)
    return found
