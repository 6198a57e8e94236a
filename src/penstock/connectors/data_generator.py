"""Records made of numbers, at a steady rate: for tests, demonstrations and load. Flink's Java names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.base import Source
from penstock.connectors.number_ranges import NumberSequence, NumberSequenceReader, Ranges
from penstock.runtime.batch import Batch, Control
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.sources.base import SourcePlanner, WorkReader

__all__ = ["DataGeneratorSource", "RateLimiterStrategy"]


@dataclass(frozen=True)
class RateLimiterStrategy:
    """How many records come, at most, over all subtasks."""

    records_per_second: float | None = None

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        if records_per_second <= 0:
            raise ProgramError(f"the rate of a DataGeneratorSource must be above zero, got {records_per_second!r}")
        return RateLimiterStrategy(records_per_second)

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """As many as the job can take."""
        return RateLimiterStrategy()


class DataGeneratorSource(Source):
    """``generator_function(0)``, ``generator_function(1)``, ... until ``count`` records were made.

    Example::

        source = DataGeneratorSource(str, 10_000, RateLimiterStrategy.per_second(500), Types.STRING())
        events = env.from_source(source, WatermarkStrategy.no_watermarks(), "events")

    The same number has to give the same record, also after a failure. Numbers are dealt out in ranges to the subtasks.
    """

    def __init__(
        self,
        generator_function: Callable[[int], Any],
        count: int = (1 << 63) - 1,
        rate_limiter_strategy: RateLimiterStrategy | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        super().__init__()
        if not callable(generator_function):
            raise ProgramError(f"DataGeneratorSource takes a function of a number, got {generator_function!r}")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ProgramError(f"DataGeneratorSource makes a number of records of 0 or more, got {count!r}")
        if rate_limiter_strategy is not None and not isinstance(rate_limiter_strategy, RateLimiterStrategy):
            raise ProgramError(f"DataGeneratorSource takes a RateLimiterStrategy, got {rate_limiter_strategy!r}")
        self._function = generator_function
        self._count = count
        self._rate = (rate_limiter_strategy or RateLimiterStrategy()).records_per_second
        self._type_info = type_info

    def _planner(self) -> SourcePlanner:
        return GeneratedRecords(self._function, self._count, self._rate)

    def get_produced_type(self) -> TypeInformation | None:
        return self._type_info


class GeneratedRecords(NumberSequence):
    """Numbers, of which the clock lets only so many pass."""

    def __init__(
        self,
        function: Callable[[int], Any],
        count: int,
        records_per_second: float | None = None,
        clock: Clock = system_clock,
    ) -> None:
        super().__init__(0, count - 1)
        self._function = function
        self._rate = records_per_second
        self._clock = clock
        self._counted_from: int | None = None
        self._passed = 0

    def advance(self, position: Ranges, budget: int) -> Ranges:
        if self._rate is None:
            return super().advance(position, budget)
        left = min(budget, self._allowed(self._rate))
        advanced = [list(each) for each in position]
        active = [each for each in advanced if each[0] < each[1]]
        for number, each in enumerate(active):
            taken = min(each[1] - each[0], -(-left // (len(active) - number)))
            each[0] += taken
            left -= taken
            self._passed += taken
        return advanced

    def _allowed(self, rate: float) -> int:
        """Since the job has started, or started again: what was missed while it did not run is not made up for."""
        now = self._clock()
        if self._counted_from is None:
            self._counted_from = now
        return max(0, int((now - self._counted_from) * rate / 1000) + 1 - self._passed)

    def reader(self) -> WorkReader:
        return _GeneratingReader(self._function)


class _GeneratingReader(NumberSequenceReader):
    def __init__(self, function: Callable[[int], Any]) -> None:
        self._function = function

    def read(self, work: Any) -> Iterator[Batch | Control]:
        for numbers in super().read(work):
            assert isinstance(numbers, Batch)
            yield Batch(list(map(self._function, numbers.values)))
