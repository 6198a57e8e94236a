"""After a match: which other matches that share events with it are given up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.common.errors import ProgramError

EventIds = Mapping[str, Sequence[int]]  # of a match: the ids of its events by stage, in time order


class AfterMatchSkipStrategy(ABC):
    """What happens to overlapping matches once one was found; ``Pattern.begin(name, strategy)`` takes one.

    For ``begin("b").one_or_more().consecutive().next("c")`` on ``b1 b2 b3 c``::

        AfterMatchSkipStrategy.no_skip()               b1 b2 b3 c   b2 b3 c   b3 c
        AfterMatchSkipStrategy.skip_to_next()          the same: they begin with different events
        AfterMatchSkipStrategy.skip_past_last_event()  b1 b2 b3 c
        AfterMatchSkipStrategy.skip_to_last("b")       b1 b2 b3 c   b3 c
    """

    skips = True

    @staticmethod
    def no_skip() -> NoSkipStrategy:
        """Every match is emitted."""
        return NoSkipStrategy()

    @staticmethod
    def skip_to_next() -> SkipToNextStrategy:
        """Gives up all that begins with the match's first event."""
        return SkipToNextStrategy()

    @staticmethod
    def skip_past_last_event() -> SkipPastLastStrategy:
        """Gives up all that begins before the match's end."""
        return SkipPastLastStrategy()

    @staticmethod
    def skip_to_first(pattern_name: str) -> SkipToFirstStrategy:
        """Gives up all that begins before the first event that the match has under a name."""
        return SkipToFirstStrategy(pattern_name)

    @staticmethod
    def skip_to_last(pattern_name: str) -> SkipToLastStrategy:
        """Gives up all that begins before the last event that the match has under a name."""
        return SkipToLastStrategy(pattern_name)

    @property
    def stage_name(self) -> str | None:
        """The stage that the strategy refers to."""
        return None

    @abstractmethod
    def first_kept(self, match: EventIds) -> int:
        """Matches that begin with an event before this one are given up."""


@dataclass(frozen=True)
class NoSkipStrategy(AfterMatchSkipStrategy):
    """Every match is emitted."""

    skips = False

    def first_kept(self, match: EventIds) -> int:
        return 0


@dataclass(frozen=True)
class SkipToNextStrategy(AfterMatchSkipStrategy):
    """Gives up all that begins with the match's first event."""

    def first_kept(self, match: EventIds) -> int:
        return _first_of(match) + 1


@dataclass(frozen=True)
class SkipPastLastStrategy(AfterMatchSkipStrategy):
    """Gives up all that begins before the match's end."""

    def first_kept(self, match: EventIds) -> int:
        return max(ids[-1] for ids in match.values()) + 1


@dataclass(frozen=True)
class _SkipToStage(AfterMatchSkipStrategy):
    pattern_name: str
    must_be_there: bool = False

    @property
    def stage_name(self) -> str | None:
        return self.pattern_name

    def first_kept(self, match: EventIds) -> int:
        ids = match.get(self.pattern_name)
        if not ids:
            if self.must_be_there:
                raise ProgramError(
                    f"could not skip to {self.pattern_name!r}: the match has no event of that stage. "
                    "Without throw_exception_on_miss() such a match skips nothing."
                )
            return 0
        kept = self._chosen(ids)
        if self.must_be_there and kept == _first_of(match):
            raise ProgramError(
                f"could not skip to {self.pattern_name!r}: it is the first event of the match, which would be found "
                "again and again. Without throw_exception_on_miss() such a match skips nothing."
            )
        return kept

    def _chosen(self, ids: Sequence[int]) -> int:
        raise NotImplementedError


@dataclass(frozen=True)
class SkipToFirstStrategy(_SkipToStage):
    """Gives up all that begins before the first event of a stage."""

    def throw_exception_on_miss(self) -> SkipToFirstStrategy:
        """A match without such an event, or that begins with it, fails the job."""
        return replace(self, must_be_there=True)

    def _chosen(self, ids: Sequence[int]) -> int:
        return ids[0]


@dataclass(frozen=True)
class SkipToLastStrategy(_SkipToStage):
    """Gives up all that begins before the last event of a stage."""

    def throw_exception_on_miss(self) -> SkipToLastStrategy:
        """A match without such an event, or that begins with it, fails the job."""
        return replace(self, must_be_there=True)

    def _chosen(self, ids: Sequence[int]) -> int:
        return ids[-1]


def _first_of(match: EventIds) -> int:
    return min(ids[0] for ids in match.values())
