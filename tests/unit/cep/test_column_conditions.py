"""Conditions on columns find what the same conditions on events find, wherever batches and epochs are cut."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.unit.cep.feeding import LATE, TIMED_OUT, Everything
from tests.unit.cep.test_against_naive_matcher import RandomPattern

from penstock.cep import CEP, ColumnCondition, Pattern
from penstock.common.errors import ProgramError
from penstock.common.time import Time
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.cep.settings import PARAMETER, CepSettings
from penstock.runtime.key_columns import column_of_keys
from penstock.testing.harness import OperatorHarness

EVENT = Types.TUPLE([Types.LONG(), Types.STRING(), Types.LONG()])  # key, letter, number
Event = tuple[int, str, int]


class PatternOnEvents(RandomPattern):
    def condition(self) -> Any:
        letters = "".join(self.source.sample("abcd", self.source.choice([1, 1, 2])))
        return self.written(letters)

    def written(self, letters: str) -> Any:
        return lambda event: event[1] in letters


class PatternOnColumns(PatternOnEvents):
    def written(self, letters: str) -> Any:
        if len(letters) == 1:
            return pc.field("f1") == letters
        return ColumnCondition(lambda columns: pc.is_in(columns["f1"], pa.array(list(letters))))


def harness_of(pattern: Pattern) -> OperatorHarness:
    settings = CepSettings(pattern._model(), late_tag=LATE.tag_id, event_type=EVENT)
    return OperatorHarness("cep", Everything(), {PARAMETER: settings}, key=lambda event: event[0])


def push(harness: OperatorHarness, events: list[tuple[int, Event]], columns: bool) -> None:
    times, values = [time for time, _ in events], [event for _, event in events]
    batch = Batch(values, times, [event[0] for event in values])
    if columns:
        codec = codec_for(EVENT)
        assert codec is not None
        keys = column_of_keys([event[0] for event in values])
        batch = Batch.of_columns(codec, codec.encode(values), batch.times, keys)
    harness.operator.process(batch, 0)


def run(pattern: Pattern, seed: int, columns: bool) -> tuple[list[str], ...]:
    source = random.Random(seed)
    harness = harness_of(pattern)
    time = 0
    for _ in range(6):
        events = []
        for number in range(source.randrange(1, 12)):
            time += source.choice([0, 1, 1, 2])
            events.append((time + source.randrange(-2, 3), (source.randrange(3), source.choice("abcd"), number)))
        push(harness, events, columns)
        if source.random() < 0.7:
            harness.watermark(time - 2)
        if source.random() < 0.3:
            harness.restart()
    harness.watermark(time + 100)
    outputs = (harness.output, harness.side(TIMED_OUT.tag_id), harness.side(LATE.tag_id))
    return tuple([repr(record) for record in output.records] for output in outputs)


@pytest.mark.parametrize("seed", range(60))
def test_columns_and_events_find_the_same(seed: int) -> None:
    skipping = seed % 3 == 0
    on_events = PatternOnEvents(random.Random(seed), skipping).pattern
    on_columns = PatternOnColumns(random.Random(seed), skipping).pattern
    expected = run(on_events, seed, columns=False)
    assert run(on_events, seed, columns=True) == expected
    assert run(on_columns, seed, columns=True) == expected
    assert run(on_columns, seed, columns=False) == expected


def test_conditions_of_one_stage_are_of_one_kind() -> None:
    stage = Pattern.begin("a").where(pc.field("f2") > 3)
    stage.where(pc.field("f2") < 9).or_(ColumnCondition(lambda columns: pc.equal(columns["f1"], "a")))
    with pytest.raises(ProgramError, match="either all on columns or all on events"):
        stage.where(lambda event: event[2] < 9)


def test_a_column_condition_says_something_about_every_event() -> None:
    harness = harness_of(Pattern.begin("a").where(ColumnCondition(lambda columns: [True])))
    push(harness, [(1, (1, "a", 1)), (2, (1, "b", 2))], columns=True)
    with pytest.raises(ProgramError, match="a boolean for each of the 2 events"):
        harness.watermark(9)


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


def charges(make_env: Any, declared: Any) -> Any:
    rows = [Row(1, 10, 5), Row(2, 11, 7), Row(1, 20, 900), Row(2, 21, 8), Row(2, 22, 950)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    return make_env().from_collection(rows, declared).assign_timestamps_and_watermarks(strategy)


PATTERN_ON_FIELDS = (
    Pattern.begin("small")
    .where(pc.field("amount") < 100)
    .next("large")
    .where(ColumnCondition(lambda columns: pc.greater(columns["amount"], 500)))
    .within(Time.seconds(1))
)


def test_fields_of_a_row_type_have_their_names(local_env: Any) -> None:
    declared = Types.ROW_NAMED(["card", "time", "amount"], [Types.LONG(), Types.LONG(), Types.LONG()])
    stream = charges(local_env, declared).key_by(lambda charge: charge[0], Types.LONG())
    found = CEP.pattern(stream, PATTERN_ON_FIELDS).select(lambda match: (match["small"][0][2], match["large"][0][2]))
    assert sorted(found.execute_and_collect()) == [(5, 900), (8, 950)]


def test_events_without_a_declared_type_have_no_columns(local_env: Any) -> None:
    stream = charges(local_env, None).key_by(lambda charge: charge[0])
    found = CEP.pattern(stream, PATTERN_ON_FIELDS).select(lambda match: 1)
    with pytest.raises(Exception, match="condition on columns, but the events have none"):
        list(found.execute_and_collect())
