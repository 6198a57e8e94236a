"""State without keys is there when a function is opened, in whatever process that happens."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import MapFunction
from penstock.datastream.state import ListStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.checkpointed import CheckpointedFunction


class _Guarded:
    """Cannot be pickled, so that nobody but its function can make it again."""

    def __init__(self, total: int) -> None:
        self.lock = threading.Lock()
        self.total = total


class _Total(MapFunction, CheckpointedFunction):
    def initialize_state(self, context: Any) -> None:
        self._state = context.get_operator_state_store().get_list_state(ListStateDescriptor("total", Types.LONG()))
        saved = list(self._state.get())
        assert bool(saved) == context.is_restored()
        self._held = _Guarded(sum(saved))

    def snapshot_state(self, context: Any) -> None:
        self._state.update([self._held.total])

    def map(self, value: int) -> int:
        with self._held.lock:
            self._held.total += value
            return self._held.total


def test_what_a_function_makes_of_its_state_survives_a_new_process(local_env: Any) -> None:
    env = local_env(1, epoch_records=2, forget=True)
    numbers = env.from_collection(list(range(1, 8)), Types.LONG())
    # One behind an exchange, whose snapshot is in the state log; one at the source, whose snapshot goes to the driver.
    for stream in (numbers, numbers.rebalance()):
        totals = list(stream.map(_Total(), Types.LONG()).execute_and_collect())
        assert totals == [1, 3, 6, 10, 15, 21, 28]


class _CountingWitnesses(MapFunction):
    """Says how many entries of the union list it saw when it was opened."""

    def initialize_state(self, context: Any) -> None:
        self.union = context.get_operator_state_store().get_union_list_state(
            ListStateDescriptor("witnesses", Types.STRING())
        )
        self.seen = sorted(self.union.get())

    def open(self, runtime_context: RuntimeContext) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def snapshot_state(self, context: Any) -> None:
        self.union.update([f"witness {self.subtask}"])

    def map(self, value: int) -> Any:
        return value, self.seen


@pytest.mark.parametrize("exchange", [False, True])
def test_a_subtask_that_moves_sees_the_union_lists_of_all(exchange: bool) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records=4, forget=True))
    env.set_parallelism(2)
    numbers = env.from_source(NumberSequenceSource(0, 11), WatermarkStrategy.no_watermarks(), "numbers")
    stream = numbers.rebalance() if exchange else numbers
    results = dict(stream.map(_CountingWitnesses()).execute_and_collect())
    everybody = ["witness 0", "witness 1"]
    first = [value for value, seen in results.items() if seen == []]
    assert len(results) == 12 and 0 < len(first) <= 4
    assert all(seen == everybody for value, seen in results.items() if value not in first)
