"""The operator: order of events, late ones, timeouts, both clocks, snapshots, and patterns that change meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.cep.feeding import LATE, TIMED_OUT, Everything, OnlyMatches, harness_of, letter, written

from penstock.cep import CEP, Pattern, PatternProcessFunction, PatternSelectFunction, PatternStream, SimpleCondition
from penstock.cep.functions import SelectAdapter, SelectAdapterWithTimeout
from penstock.common.errors import ProgramError
from penstock.common.time import Time
from penstock.datastream.output_tag import OutputTag
from penstock.datastream.state import ValueStateDescriptor
from penstock.runtime.cep.settings import CepSettings
from penstock.testing.harness import OperatorHarness


def a_then_b(milliseconds: int = 10) -> Pattern:
    pattern = Pattern.begin("a").where(letter("a")).followed_by("b").where(letter("b"))
    return pattern.within(Time.milliseconds(milliseconds))


def last_letter(word: str) -> str:
    return word[-1]


def matches(harness: OperatorHarness) -> list[str]:
    return [written(match) for match in harness.take()]


def test_events_are_taken_in_the_order_of_time_and_then_of_arrival() -> None:
    harness = harness_of(a_then_b())
    harness.push("b1", timestamp=5)
    harness.push("a1", timestamp=3)
    harness.push("b2", timestamp=5)
    assert matches(harness) == []
    harness.watermark(4)
    assert matches(harness) == []
    harness.watermark(5)
    assert harness.results[0][1] == 5
    assert matches(harness) == ["a1 b1"]


def test_a_comparator_orders_events_of_the_same_time() -> None:
    harness = harness_of(a_then_b(), comparator=lambda one, other: (one > other) - (one < other))
    harness.push_all(["b2", "a1", "b1"], [5, 5, 5])
    harness.restart()
    harness.watermark(9)
    assert matches(harness) == ["a1 b1"]


def test_late_events_go_to_their_side_output() -> None:
    harness = harness_of(a_then_b())
    harness.watermark(10)
    harness.push_all(["a1", "a2", "b1"], [10, 11, 12])
    harness.watermark(20)
    assert harness.side(LATE.tag_id).records == [("a1", 10)]
    assert matches(harness) == ["a2 b1"]


def test_events_without_timestamps_are_refused() -> None:
    with pytest.raises(ProgramError, match="in_processing_time"):
        harness_of(a_then_b()).push("a1")


def test_partial_matches_time_out_at_their_own_moment() -> None:
    harness = harness_of(a_then_b(10))
    harness.push_all(["a1", "a2"], [0, 4])
    harness.watermark(9)
    assert harness.side(TIMED_OUT.tag_id).records == []
    harness.restart()
    harness.watermark(12)
    harness.watermark(100)
    assert harness.side(TIMED_OUT.tag_id).records == [(({"a": ["a1"]}, 10), 10), (({"a": ["a2"]}, 14), 14)]


def test_time_runs_out_before_an_event_of_the_same_moment() -> None:
    harness = harness_of(a_then_b(10))
    harness.push_all(["a1", "b1"], [0, 10])
    harness.watermark(50)
    assert matches(harness) == []
    assert harness.side(TIMED_OUT.tag_id).values == [({"a": ["a1"]}, 10)]


def test_processing_time_takes_events_as_they_come() -> None:
    harness = harness_of(a_then_b(10), processing_time=True, now=100)
    harness.push("a1")
    harness.now = 105
    harness.restart()
    harness.push("b1")
    assert harness.results == [({"a": ["a1"], "b": ["b1"]}, None)]
    harness.push("a2")
    assert harness.operator.next_processing_time() is not None
    harness.processing_time(115)
    assert harness.side(TIMED_OUT.tag_id).values == [({"a": ["a2"]}, 115)]


def test_a_comparator_in_processing_time_orders_each_millisecond() -> None:
    harness = harness_of(a_then_b(), processing_time=True, comparator=lambda one, other: (one > other) - (one < other))
    harness.push_all(["b1", "a1"])
    assert matches(harness) == []
    harness.restart()
    harness.processing_time(1)
    assert matches(harness) == ["a1 b1"]
    harness.push_all(["b2", "a2"])
    harness.end_of_input()
    assert matches(harness) == ["a2 b2"]


def test_keys_do_not_see_each_other() -> None:
    harness = harness_of(a_then_b(), key=last_letter)
    harness.push_all(["a_x", "a_y", "b_y", "b_x"], [1, 2, 3, 4])
    harness.watermark(5)
    assert matches(harness) == ["a_y b_y", "a_x b_x"]


@pytest.mark.parametrize("full", [False, True])
def test_nothing_is_lost_when_every_event_has_an_epoch_of_its_own(full: bool) -> None:
    pattern = Pattern.begin("a").where(letter("a")).times(2).followed_by_any("b").where(letter("b"))
    harness = harness_of(pattern.within(Time.milliseconds(10)))
    for time, word in enumerate(["a1", "a2", "b1", "x", "b2"]):
        harness.push(word, timestamp=time)
        harness.restart(full)
        harness.watermark(time - 1)
        harness.restart(full)
    harness.end_of_input()
    assert matches(harness) == ["a1 a2 b1", "a1 a2 b2"]


@pytest.mark.parametrize("function", [Everything(), OnlyMatches()])
def test_what_can_no_longer_match_is_not_kept(function: PatternProcessFunction) -> None:
    harness = harness_of(a_then_b(100), function, key=last_letter)
    operator: Any = harness.operator
    for time in range(0, 5_000, 10):
        harness.push_all([f"a{time}_{key}" for key in "uvwxyz"], [time] * 6)
        harness.watermark(time - 1)
    keys, entries = operator.matchers()[""].sizes()
    assert keys == 6 and entries == 0  # partial matches of one event are not in the shared buffer
    held = operator.backend.table("_cep_matches", ValueStateDescriptor)
    assert max(len(held.get(key)[1]) for key in list(held.keys())) <= 14
    harness.end_of_input()
    assert operator.matchers()[""].sizes() == (0, 0)
    assert len(operator.timers.event) == 0


class Broken(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Any:
        return None

    def process_timed_out_match(self, match: Any, ctx: Any) -> Any:
        yield "no tag"


def test_timed_out_matches_cannot_go_to_the_main_output() -> None:
    harness = harness_of(a_then_b(), Broken())
    harness.push("a1", timestamp=0)
    with pytest.raises(ProgramError, match="side output"):
        harness.watermark(50)


class WithOpen(PatternSelectFunction):
    def open(self, runtime_context: Any) -> None:
        self.prefix = "seen"

    def select(self, pattern: Any) -> Any:
        return f"{self.prefix} {written(pattern)}"


def test_select_functions_are_opened_and_timeouts_have_their_own() -> None:
    function, tag = WithOpen(), OutputTag("slow")
    harness = harness_of(a_then_b(), SelectAdapter(function, function.select, False))
    harness.push_all(["a1", "b1"], [1, 2])
    harness.watermark(5)
    assert harness.take() == ["seen a1 b1"]
    flat = SelectAdapterWithTimeout(
        None, lambda match: match["b"] * 2, True, tag, None, lambda match, time: [*match["a"], time]
    )
    harness = harness_of(a_then_b(10), flat)
    harness.push_all(["a1", "b1", "a2"], [1, 2, 3])
    harness.end_of_input()
    assert harness.take() == ["b1", "b1"]
    assert harness.side("slow").values == ["a2", 13]


class FromContext(SimpleCondition):
    def open(self, runtime_context: Any) -> None:
        self.first = runtime_context.get_job_parameter("letter", "a")

    def close(self) -> None:
        self.first = None

    def filter(self, event: str) -> bool:
        return event[0] == self.first


def test_conditions_are_opened() -> None:
    harness = harness_of(Pattern.begin("a").where(FromContext()).where(letter("a", "b")))
    harness.push_all(["a1", "b1"], [1, 2])
    harness.restart()
    harness.watermark(5)
    assert matches(harness) == ["a1"]


def test_choices_that_do_not_fit_are_refused() -> None:
    stream: Any = PatternStream(None, CepSettings(None), True)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="given together"):
        stream.select(written, timeout_tag=TIMED_OUT)
    with pytest.raises(ProgramError, match="takes a PatternSelectFunction"):
        stream.select(5)
    with pytest.raises(ProgramError, match="takes a PatternProcessFunction"):
        stream.process(written)
    with pytest.raises(ProgramError, match="no event is late"):
        stream.in_processing_time().side_output_late_data(LATE).select(written)
    with pytest.raises(ProgramError, match="takes a DataStream"):
        CEP.pattern([1, 2], a_then_b())  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="needs a name"):
        CEP.pattern_update("", 1, a_then_b())
    with pytest.raises(ProgramError, match="must be a number"):
        CEP.pattern_update("rule", "1", a_then_b())  # type: ignore[arg-type]


class Named(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Any:
        ctx.output(TIMED_OUT, ctx.get_current_key())
        yield ctx.pattern_name(), ctx.pattern_version(), written(match)


def test_a_new_version_of_a_pattern_replaces_the_old_one() -> None:
    harness = harness_of(None, Named())

    def update(record: Any) -> None:
        harness.push(record, input_index=1)
        harness.restart()

    update(CEP.pattern_update("rule", 1, a_then_b()))
    harness.push_all(["a1", "b1", "a2"], [1, 2, 3])
    harness.watermark(3)
    assert harness.take() == [("rule", 1, "a1 b1")]
    update(CEP.pattern_update("rule", 2, Pattern.begin("c").where(letter("c", "b"))))
    update(CEP.pattern_update("rule", 1, a_then_b()))  # older than what is there
    update(CEP.pattern_update("other", 7, Pattern.begin("a").where(letter("a"))))
    harness.push_all(["b2", "a3"], [4, 5])
    harness.watermark(5)
    assert harness.take() == [("rule", 2, "b2"), ("other", 7, "a3")]  # "a2" was a partial match of the old version
    update(CEP.pattern_removal("rule", 3))
    harness.push_all(["b3", "a4"], [6, 7])
    harness.watermark(7)
    assert harness.take() == [("other", 7, "a4")]
    assert harness.side(TIMED_OUT.tag_id).values == [0, 0, 0, 0]


def test_a_version_with_a_timestamp_counts_from_then_on() -> None:
    harness = harness_of(None, Named())
    harness.push(CEP.pattern_update("rule", 2, Pattern.begin("b").where(letter("b"))), 10, input_index=1)
    harness.push(CEP.pattern_update("rule", 1, Pattern.begin("a").where(letter("a"))), 0, input_index=1)
    harness.restart()
    harness.push_all(["b9", "a9", "a10", "b10"], [9, 9, 10, 10])
    harness.restart()
    harness.watermark(20)
    assert harness.take() == [("rule", 1, "a9"), ("rule", 2, "b10")]
    harness.push(CEP.pattern_removal("rule", 3), 15, input_index=1)  # late: at once
    harness.push("b21", 21)
    harness.end_of_input(inputs=2)
    assert harness.take() == []


def test_other_records_in_a_stream_of_patterns_are_refused() -> None:
    with pytest.raises(ProgramError, match="pattern_update"):
        harness_of(None, Named()).push("a pattern?", input_index=1)


def test_a_changed_pattern_does_not_read_the_partial_matches_of_another_one() -> None:
    harness = harness_of(a_then_b())
    harness.push("a1", timestamp=1)
    harness.watermark(1)
    harness.snapshot()
    changed = harness_of(Pattern.begin("x").where(letter("x")))
    changed._snapshots = harness._snapshots
    changed.restore()
    changed.push("x", timestamp=5)
    with pytest.raises(ProgramError, match="another uid"):
        changed.watermark(9)
