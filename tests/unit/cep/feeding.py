"""Runs a pattern over a list of events on the operator harness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.cep.functions import PatternProcessFunction, TimedOutPartialMatchHandler
from penstock.cep.pattern import Pattern
from penstock.datastream.output_tag import OutputTag
from penstock.runtime.cep.settings import PARAMETER, CepSettings
from penstock.testing.harness import OperatorHarness

TIMED_OUT, LATE = OutputTag("timed out"), OutputTag("late")


class Everything(PatternProcessFunction, TimedOutPartialMatchHandler):
    """Shows matches as they are."""

    def process_match(self, match: Any, ctx: Any) -> Any:
        yield match

    def process_timed_out_match(self, match: Any, ctx: Any) -> Any:
        yield TIMED_OUT, (match, ctx.timestamp())


class OnlyMatches(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Any:
        yield match


def one_key(value: Any) -> int:
    return 0


def harness_of(
    pattern: Pattern | None,
    function: PatternProcessFunction | None = None,
    *,
    key: Callable[[Any], Any] = one_key,
    processing_time: bool = False,
    comparator: Any = None,
    now: int = 0,
) -> OperatorHarness:
    model = None if pattern is None else pattern._model()
    settings = CepSettings(model, processing_time, comparator, LATE.tag_id)
    return OperatorHarness("cep", function or Everything(), {PARAMETER: settings}, key=[key, one_key], now=now)


def matches_of(pattern: Pattern, text: str, step: int = 1) -> list[str]:
    """Matches of a pattern in events written as words: "a1 b1 c" gives events of which conditions see the letters."""
    harness = harness_of(pattern)
    for number, word in enumerate(text.split()):
        harness.push(word, timestamp=number * step)
    harness.watermark(len(text.split()) * step)
    return [written(match) for match in harness.take()]


def written(match: dict[str, list[Any]]) -> str:
    return " ".join(word for words in match.values() for word in words)


def letter(*letters: str) -> Callable[[str], bool]:
    """A condition: the word begins with one of the letters."""
    return lambda word: word[0] in letters
