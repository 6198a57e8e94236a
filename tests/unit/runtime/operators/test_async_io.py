"""The asynchronous operator with clock and answers in the test's hands: order, capacity, timeouts, snapshots."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from tests.patience import patience

from penstock.common import Time
from penstock.datastream.async_retry_predicates import empty_result_predicate, has_exception_predicate
from penstock.functions.async_io import AsyncFunction, AsyncFunctionDescriptor, AsyncRetryStrategy
from penstock.functions.async_retry import NO_RETRY_STRATEGY
from penstock.testing.harness import OperatorHarness

_Mode = AsyncFunctionDescriptor.OutputMode


class Answers:
    """Outlives every copy of the function: the test answers here, by record."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self._futures: dict[Any, list[Future[Any]]] = {}

    def ask(self, value: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._futures.setdefault(value, []).append(future)
        self.asked.append(value)
        return future

    def give(self, value: Any, result: Any) -> None:
        future = self._futures[value][-1]
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)

    def give_all(self) -> None:
        """To every open call, also of an instance that was replaced: its loop may ask after that of the new one."""
        for value, futures in list(self._futures.items()):
            for future in futures:
                if not future.done():
                    future.set_result([value])


_answers: dict[int, Answers] = {}


class Controlled(AsyncFunction[Any, Any]):
    def __init__(self, number: int) -> None:
        self._number = number

    async def async_invoke(self, value: Any) -> list[Any]:
        from tests.unit.runtime.operators.test_async_io import _answers  # the module, not a pickled copy of its globals

        result: list[Any] = await asyncio.wrap_future(_answers[self._number].ask(value))
        return result


class WithSubstitute(Controlled):
    def timeout(self, value: Any) -> list[Any]:
        return [f"no {value}"]


class Bench:
    """A harness, and waiting for what the loop's thread does."""

    def __init__(
        self,
        mode: Any = _Mode.UNORDERED,
        *,
        capacity: int = 10,
        timeout: int = 1000,
        strategy: AsyncRetryStrategy[Any] = NO_RETRY_STRATEGY,
        function: Callable[[int], AsyncFunction[Any, Any]] = Controlled,
    ) -> None:
        number = len(_answers)
        self.answers = _answers[number] = Answers()
        described = AsyncFunctionDescriptor(function(number), Time.milliseconds(timeout), capacity, strategy, mode)
        self.harness = OperatorHarness("async", described)

    def until(self, condition: Callable[[], bool]) -> None:
        limit = time.monotonic() + patience(20)
        while not condition():
            assert time.monotonic() < limit, (self.answers.asked, self.harness.output)
            self.harness.processing_time(self.harness.now)
            time.sleep(0.001)

    def until_asked(self, *values: Any) -> None:
        self.until(lambda: self.answers.asked == list(values))

    def until_out(self, *values: Any) -> None:
        self.until(lambda: self.harness.output.values == list(values))

    @property
    def nothing_more(self) -> bool:
        """After all that has finished so far."""
        before = len(self.harness.output.records)
        self.harness.processing_time(self.harness.now)
        return len(self.harness.output.records) == before


def test_unordered_results_leave_as_they_come_but_not_before_an_earlier_watermark() -> None:
    bench = Bench()
    bench.harness.push("a", 1)
    bench.harness.push("b", 2)
    bench.harness.watermark(5)
    bench.harness.push("c", 7)
    bench.until_asked("a", "b", "c")
    bench.answers.give("c", ["C"])
    bench.answers.give("b", ["B1", "B2"])
    bench.until_out("B1", "B2")
    assert bench.nothing_more and bench.harness.output.watermarks == []
    bench.answers.give("a", [])
    bench.until_out("B1", "B2", "C")
    assert bench.harness.output.watermarks == [5]
    assert bench.harness.results == [("B1", 2), ("B2", 2), ("C", 7)]


def test_ordered_results_keep_the_order_of_their_records() -> None:
    bench = Bench(_Mode.ORDERED)
    bench.harness.push_all(["a", "b", "c"])
    bench.until_asked("a", "b", "c")
    bench.answers.give("c", ["C"])
    bench.answers.give("a", ["A"])
    bench.until_out("A")
    bench.answers.give("b", ["B"])
    bench.until_out("A", "B", "C")


def test_no_more_than_the_capacity_are_asked_at_a_time() -> None:
    bench = Bench(capacity=2)
    bench.harness.push_all(["a", "b", "c"])
    bench.until_asked("a", "b")
    assert bench.harness.operator.congested
    bench.answers.give("b", ["B"])
    bench.until_asked("a", "b", "c")
    assert not bench.harness.operator.congested


def test_the_end_waits_for_every_call_and_then_passes_on() -> None:
    bench = Bench()
    bench.harness.push("a")
    bench.until_asked("a")
    bench.answers.give("a", ["A"])
    bench.harness.end_of_input()
    assert bench.harness.output.values == ["A"] and bench.harness.output.ended


def test_a_call_that_takes_too_long_is_answered_by_timeout() -> None:
    bench = Bench(_Mode.ORDERED, timeout=1000, function=WithSubstitute)
    bench.harness.push("a")
    bench.harness.processing_time(500)
    bench.harness.push("b")
    bench.until_asked("a", "b")
    assert bench.harness.operator.next_processing_time() <= 1000  # type: ignore[operator]
    bench.harness.processing_time(1000)
    assert bench.harness.output.values == ["no a"]
    bench.answers.give("b", ["B"])
    bench.until_out("no a", "B")


def test_an_answer_after_the_deadline_is_too_late_although_nobody_has_looked() -> None:
    bench = Bench(timeout=1000, function=WithSubstitute)
    bench.harness.push("a")
    bench.until_asked("a")
    bench.harness.now = 2000
    bench.answers.give("a", ["A"])
    bench.until_out("no a")
    assert bench.nothing_more


def test_without_an_own_timeout_the_job_fails() -> None:
    bench = Bench(timeout=10)
    bench.harness.push("a")
    with pytest.raises(TimeoutError, match="did not finish in time for 'a'"):
        bench.harness.processing_time(10)


def test_an_exception_names_the_record() -> None:
    bench = Bench()
    bench.harness.push("a")
    bench.until_asked("a")
    bench.answers.give("a", KeyError("x"))
    with pytest.raises(KeyError) as raised:
        bench.until(lambda: False)
    assert raised.value.__notes__ == ["in Controlled.async_invoke() of the record 'a'"]


def test_what_is_no_list_is_refused() -> None:
    bench = Bench()
    bench.harness.push("a")
    bench.until_asked("a")
    bench.answers.give("a", None)
    with pytest.raises(Exception, match="must return a list of records, not None"):
        bench.until(lambda: False)


def test_retries_by_result_and_by_exception_until_the_strategy_has_enough() -> None:
    strategy = AsyncRetryStrategy.fixed_delay(2, 1, empty_result_predicate, has_exception_predicate)
    bench = Bench(strategy=strategy)
    bench.harness.push("a")
    bench.until_asked("a")
    bench.answers.give("a", [])
    bench.until_asked("a", "a")
    bench.answers.give("a", ValueError("not yet"))
    bench.until_asked("a", "a", "a")
    bench.answers.give("a", ["A"])
    bench.until_out("A")
    bench.harness.push("b")
    for attempts in (1, 2, 3):
        bench.until(lambda attempts=attempts: bench.answers.asked.count("b") == attempts)  # type: ignore[misc]
        bench.answers.give("b", [])
    bench.harness.end_of_input()
    assert bench.harness.output.values == ["A"]  # the last empty result counts


def test_what_is_in_flight_is_asked_again_after_a_restart() -> None:
    bench = Bench()
    bench.harness.push_all(["a", "b"], [1, 2])
    bench.harness.watermark(3)
    bench.harness.push("c", 4)
    bench.until_asked("a", "b", "c")
    bench.answers.give("b", ["B"])
    bench.until_out("B")
    bench.harness.restart()
    bench.until_asked("a", "b", "c", "a", "c")
    bench.answers.give("c", ["C"])
    bench.answers.give("a", ["A"])
    bench.until_out("B", "A", "C")
    assert bench.harness.output.watermarks == [3]
    bench.harness.restart()
    assert bench.nothing_more and len(bench.answers.asked) == 5


def test_an_older_instance_that_is_brought_up_to_date_forgets_its_calls() -> None:
    bench = Bench()
    bench.harness.push("a")
    bench.until_asked("a")
    older = bench.harness.operator
    bench.harness.snapshot()
    bench.answers.give("a", ["A"])
    bench.until_out("A")
    import pickle

    older.load(pickle.loads(bench.harness.snapshot()))
    assert bench.nothing_more and bench.answers.asked == ["a"]


def test_random_answers_against_a_naive_oracle() -> None:
    """Whatever the order of answers and wherever epochs are cut: all results once, and none passes a watermark."""
    generator = random.Random(7)
    for mode in _Mode:
        bench = Bench(mode, capacity=4)
        expected: list[Any] = []
        open_calls: list[str] = []
        for step in range(120):
            match generator.randrange(5):
                case 0 | 1:
                    bench.harness.push(f"r{step}", step)
                    expected.append(f"r{step}")
                case 2:
                    bench.harness.watermark(step)
                    expected.append(step)
                case 3 if bench.answers.asked:
                    open_calls = [v for v in bench.answers.asked if not bench.answers._futures[v][-1].done()]
                    if open_calls:
                        value = generator.choice(open_calls)
                        bench.answers.give(value, [value])
                case 4 if not bench.harness.operator.congested:
                    bench.harness.restart()
        while bench.harness.operator._queue:  # type: ignore[attr-defined]
            bench.answers.give_all()
            bench.harness.processing_time(bench.harness.now)
            time.sleep(0.001)
        records = [value for value in expected if isinstance(value, str)]
        got = bench.harness.output.values
        assert sorted(got) == sorted(records)
        if mode is _Mode.ORDERED:
            assert got == records
        assert bench.harness.output.watermarks[-1:] == [w for w in expected if isinstance(w, int)][-1:]
