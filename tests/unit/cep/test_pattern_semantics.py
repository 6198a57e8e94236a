"""What patterns mean, in streams small enough to be read: the examples of docs/cep.md are here."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.cep.feeding import letter, matches_of

from penstock.cep import (
    AfterMatchSkipStrategy,
    IterativeCondition,
    MalformedPatternException,
    Pattern,
    SimpleCondition,
    WithinType,
)
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.time import Time


def begin(name: str = "a", skip: AfterMatchSkipStrategy | None = None) -> Pattern:
    return Pattern.begin(name, skip).where(letter(name))


def slow_step() -> Pattern:
    return begin().next("b").within(Time.seconds(2), WithinType.PREVIOUS_AND_CURRENT)


def stage(pattern: Pattern, how: str, name: str) -> Any:
    return getattr(pattern, how)(name).where(letter(name))


@pytest.mark.parametrize(
    ("how", "expected"),
    [("next", []), ("followed_by", ["a b1"]), ("followed_by_any", ["a b1", "a b2"])],
)
def test_contiguity(how: str, expected: list[str]) -> None:
    assert matches_of(stage(begin(), how, "b"), "a c b1 b2") == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("consecutive", ["a b1 c", "a b3 c", "a b3 b4 c", "a b4 c"]),
        ("relaxed", ["a b1 c", "a b1 b3 c", "a b1 b3 b4 c", "a b3 c", "a b3 b4 c", "a b4 c"]),
        (
            "allow_combinations",
            ["a b1 c", "a b1 b3 c", "a b1 b3 b4 c", "a b1 b4 c", "a b3 c", "a b3 b4 c", "a b4 c"],
        ),
    ],
)
def test_contiguity_inside_a_loop(how: str, expected: list[str]) -> None:
    pattern = stage(begin(), "followed_by_any", "b").one_or_more()
    if how != "relaxed":
        getattr(pattern, how)()
    assert sorted(matches_of(stage(pattern, "followed_by", "c"), "a b1 d2 b3 b4 c")) == sorted(expected)


def test_negations() -> None:
    not_next = stage(stage(begin(), "not_next", "b"), "followed_by", "c")
    assert matches_of(not_next, "a b c") == []
    assert matches_of(not_next, "a d b c") == ["a c"]
    not_followed = stage(stage(begin(), "not_followed_by", "b"), "followed_by", "c")
    assert matches_of(not_followed, "a d b c") == []
    assert matches_of(not_followed, "a d c b") == ["a c"]
    assert matches_of(stage(begin(), "not_next", "b"), "a1 b a2 c") == ["a2"]


def test_a_negation_at_the_end_is_decided_by_time() -> None:
    silence = stage(begin(), "not_followed_by", "b").within(Time.milliseconds(3))
    assert matches_of(silence, "a1 b1 c a2 c c c") == ["a2"]
    assert (
        matches_of(Pattern.begin("a").where(letter("a")).not_followed_by("any").within(Time.milliseconds(2)), "a1 a2 c")
        == []
    )


def test_greedy_leaves_nothing_to_the_next_stage() -> None:
    pattern = begin().times_or_more(1)
    assert matches_of(stage(pattern, "followed_by", "b"), "a1 a2 b") == ["a1 a2 b", "a1 b", "a2 b"]
    assert matches_of(stage(begin().times_or_more(1).greedy(), "followed_by", "b"), "a1 a2 b") == ["a1 a2 b", "a2 b"]


def test_optional_and_until() -> None:
    optional = stage(stage(begin(), "next", "b").optional(), "next", "c")
    assert matches_of(optional, "a1 b1 c1 a2 c2") == ["a1 b1 c1", "a2 c2"]
    until = stage(begin(), "followed_by", "b").one_or_more().until(letter("x"))
    assert matches_of(until, "a b1 b2 x b3") == ["a b1", "a b1 b2"]


def test_groups_repeat_as_a_whole() -> None:
    inner = stage(begin("b"), "next", "c")
    pattern = begin().next(inner).times(2).consecutive()
    assert matches_of(pattern, "a b1 c1 b2 c2 b3 c3") == ["a b1 b2 c1 c2"]
    assert matches_of(begin().next(stage(begin("b"), "next", "c")).optional().next("d").where(letter("d")), "a d") == [
        "a d"
    ]


@pytest.mark.parametrize(
    ("skip", "expected"),
    [
        (AfterMatchSkipStrategy.no_skip(), ["b1 b2 b3 c", "b2 b3 c", "b3 c"]),
        (AfterMatchSkipStrategy.skip_to_next(), ["b1 b2 b3 c", "b2 b3 c", "b3 c"]),
        (AfterMatchSkipStrategy.skip_past_last_event(), ["b1 b2 b3 c"]),
        (AfterMatchSkipStrategy.skip_to_first("b"), ["b1 b2 b3 c", "b2 b3 c", "b3 c"]),
        (AfterMatchSkipStrategy.skip_to_last("b"), ["b1 b2 b3 c", "b3 c"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_skip_strategies(skip: AfterMatchSkipStrategy, expected: list[str]) -> None:
    pattern = stage(begin("b", skip).one_or_more().consecutive(), "next", "c")
    assert matches_of(pattern, "b1 b2 b3 c") == expected


def test_with_a_skip_strategy_a_match_waits_for_those_that_began_earlier() -> None:
    pattern = stage(
        stage(begin("a", AfterMatchSkipStrategy.skip_past_last_event()), "followed_by", "b"), "followed_by", "c"
    )
    # The match from a2 would be complete at c1, but the one from a1 began earlier and takes it.
    assert matches_of(pattern, "a1 a2 b1 c1 a3 b2 c2") == ["a1 b1 c1", "a3 b2 c2"]
    either = Pattern.begin("a", AfterMatchSkipStrategy.skip_to_first("a")).where(letter("a"))
    either = either.followed_by("b").where(lambda word, ctx: word[1:] == ctx.get_events_for_pattern("a")[0][1:])
    assert matches_of(either, "a1 a2 b2") == []
    assert matches_of(either.within(Time.milliseconds(3)), "a1 a2 b2 x") == ["a2 b2"]


def test_skip_to_next_keeps_one_match_for_each_first_event() -> None:
    pattern = stage(begin("a", AfterMatchSkipStrategy.skip_to_next()), "followed_by_any", "b")
    assert matches_of(pattern, "a1 b1 a2 b2") == ["a1 b1", "a2 b2"]


def test_skipping_to_a_missing_stage() -> None:
    def pattern(skip: AfterMatchSkipStrategy) -> Any:
        return stage(stage(begin("a", skip), "next", "b").optional(), "next", "c")

    assert matches_of(pattern(AfterMatchSkipStrategy.skip_to_first("b")), "a c") == ["a c"]
    with pytest.raises(ProgramError, match="has no event of that stage"):
        matches_of(pattern(AfterMatchSkipStrategy.skip_to_first("b").throw_exception_on_miss()), "a c")
    with pytest.raises(ProgramError, match="first event of the match"):
        matches_of(pattern(AfterMatchSkipStrategy.skip_to_last("a").throw_exception_on_miss()), "a c")


def test_times_between_events() -> None:
    whole = stage(begin(), "followed_by", "b").within(timedelta(milliseconds=3))
    assert matches_of(whole, "a1 x b1 a2 x x b2") == ["a1 b1"]
    steps = stage(begin(), "followed_by", "b").within(Time.milliseconds(2), WithinType.PREVIOUS_AND_CURRENT)
    assert matches_of(stage(steps, "followed_by", "c"), "a b x x x c") == ["a b c"]
    assert matches_of(steps, "a x b") == []
    loop = begin().times(3, window_time=Time.milliseconds(2)).consecutive()
    assert matches_of(loop, "a1 a2 a3") == ["a1 a2 a3"]
    assert matches_of(begin().times(2, window_time=Time.milliseconds(2)), "a1 x x a2 a3") == ["a2 a3"]


class Rising(IterativeCondition):
    def filter(self, event: str, ctx: Any) -> bool:
        return all(event > earlier for earlier in ctx.get_events_for_pattern("a")) and ctx.timestamp() >= 0


class LetterA(SimpleCondition):
    def filter(self, event: str) -> bool:
        return event.startswith("a")


def test_kinds_of_conditions() -> None:
    rising = Pattern.begin("a").where(LetterA()).where(Rising()).one_or_more().next("end").where(letter("z"))
    assert matches_of(rising, "a1 a3 a2 a4 z") == ["a1 a3 a4 z", "a3 a4 z", "a2 a4 z", "a4 z"]
    assert matches_of(begin().or_(letter("b")).next("c").where(letter("c")), "a c b c") == ["a c", "b c"]
    assert matches_of(Pattern.begin("text").subtype(str).where(lambda word: word == "a"), "a") == ["a"]
    assert matches_of(
        begin().next("b").where(lambda word, ctx: word[1:] == ctx.get_events_for_pattern("a")[0][1:]), "a1 b1 a2 b3"
    ) == ["a1 b1"]


def test_what_is_forbidden_stays_so_when_a_group_is_left_out() -> None:
    before = stage(begin(), "not_followed_by", "x")
    pattern = stage(before.followed_by(begin("b").optional()), "followed_by", "c")
    assert matches_of(pattern, "a b x c") == ["a b c"]
    assert matches_of(pattern, "a x c") == []
    assert matches_of(pattern, "a d c") == ["a c"]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: begin().next("a"), "two stages"),
        (lambda: begin().not_followed_by("b").where(letter("b")), "without a time limit"),
        (lambda: begin("a", AfterMatchSkipStrategy.skip_to_first("x")), "does not have"),
        (lambda: begin().next(Pattern.begin("x").optional()).one_or_more(), "all of its stages are optional"),
        (lambda: Pattern.begin("a").one_or_more().greedy().next("b"), "takes every event"),
        (lambda: slow_step().within(Time.seconds(1)), "longer than that of the whole"),
        (lambda: begin().next(stage(begin("x"), "not_next", "y")), "ends with the negation"),
    ],
)
def test_patterns_without_meaning_are_refused(build: Any, message: str) -> None:
    with pytest.raises(MalformedPatternException, match=message):
        matches_of(build(), "a")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: begin().times(2).one_or_more(), "says twice"),
        (lambda: begin().greedy(), "said of a loop"),
        (lambda: begin().consecutive(), "said of a loop"),
        (lambda: begin().times(2).consecutive().allow_combinations(), "once"),
        (lambda: begin().until(letter("b")), "ends a loop"),
        (lambda: begin().optional().optional(), "already"),
        (lambda: begin().not_next("b").optional(), "must not occur"),
        (lambda: begin().times(3, 2), "not a number of events"),
        (lambda: begin().within(Time.seconds(0)), "longer than nothing"),
        (lambda: begin().within(Time.seconds(1), WithinType.PREVIOUS_AND_CURRENT), "nothing comes before"),
        (lambda: Pattern.begin(""), "needs a name"),
        (lambda: begin().next(begin("b", AfterMatchSkipStrategy.skip_to_next())), "belongs to begin"),
        (lambda: begin().where("word"), "takes a function"),
        (lambda: begin().where(lambda a, b, c: True), "a condition takes"),
        (lambda: begin().next(begin("b")).greedy(), "cannot be greedy"),
    ],
)
def test_what_contradicts_itself_is_refused_where_it_is_written(call: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        call()


def test_a_negation_after_an_optional_stage_and_conditions_of_groups_are_not_supported() -> None:
    with pytest.raises(NotSupportedError, match="two patterns"):
        begin().optional().not_next("b")
    with pytest.raises(NotSupportedError, match="stages in it"):
        begin().next(begin("b")).where(letter("b"))
