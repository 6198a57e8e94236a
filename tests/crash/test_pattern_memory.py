"""Partial matches go when their time is over: millions of events take the memory of the last ten seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil
import pytest

from penstock.cep import ColumnCondition, Pattern
from penstock.cep.functions import PatternProcessFunction
from penstock.common.time import Time
from penstock.common.typeinfo import Types
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.cep.settings import PARAMETER, CepSettings
from penstock.runtime.key_columns import integers_as_column
from penstock.testing.harness import OperatorHarness

pytestmark = pytest.mark.crash

EVENT = Types.TUPLE([Types.LONG(), Types.LONG()])  # key, amount
EVENTS, BATCH, KEYS, PER_MS, WITHIN_MS = 10_000_000, 32_768, 10_000, 10, 10_000
GROWTH = 1.1  # of the memory at the end over that after a fifth


class Nobody(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Any:
        raise AssertionError("no amount is negative")


@pytest.mark.soak
@pytest.mark.parametrize("columns", [False, True])
def test_ten_million_events_with_a_window_of_ten_seconds(columns: bool) -> None:
    small: Any = ColumnCondition(lambda table: np.asarray(table["f1"]) < 100) if columns else _small
    none: Any = ColumnCondition(lambda table: np.asarray(table["f1"]) < 0) if columns else _none
    pattern = Pattern.begin("small").where(small).followed_by("none").where(none)
    settings = CepSettings(pattern.within(Time.milliseconds(WITHIN_MS))._model(), event_type=EVENT)
    harness = OperatorHarness("cep", Nobody(), {PARAMETER: settings}, key=lambda event: event[0])
    operator: Any = harness.operator
    codec, random = codec_for(EVENT), np.random.default_rng(1)
    assert codec is not None
    process, early = psutil.Process(), 0
    waiting_most = WITHIN_MS * PER_MS // 10 * 2  # a tenth is small; twice, as timers are rounded
    for start in range(0, EVENTS, BATCH):
        keys, amounts = random.integers(0, KEYS, BATCH), random.integers(0, 1000, BATCH)
        times = np.arange(start, start + BATCH) // PER_MS
        events = codec.encode(list(zip(keys.tolist(), amounts.tolist(), strict=True)))
        operator.process(Batch.of_columns(codec, events, times, integers_as_column(keys)), 0)
        harness.watermark(int(times[-1]) - 1)
        harness.snapshot()
        harness._snapshots.clear()
        if start % (BATCH * 30) == 0:
            partial = sum(len(held[1]) for held in operator.matchers()[""]._held.base.values())
            assert partial <= waiting_most, f"{partial} partial matches after {start} events"
        if not early and start >= EVENTS // 5:
            early = process.memory_info().rss
    late = process.memory_info().rss
    print(f"{EVENTS:,} events: {early >> 20} MB after a fifth, {late >> 20} MB at the end")
    assert late <= GROWTH * early


def _small(event: tuple[int, int]) -> bool:
    return event[1] < 100


def _none(event: tuple[int, int]) -> bool:
    return event[1] < 0
