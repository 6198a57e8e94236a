"""The source of consecutive numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.common.typeinfo import TypeInformation, Types
from penstock.connectors.base import Source
from penstock.connectors.number_ranges import NumberSequence

if TYPE_CHECKING:
    from penstock.runtime.sources.base import SourcePlanner

__all__ = ["NumberSequenceSource"]


class NumberSequenceSource(Source):
    """The numbers from ``start`` to ``end``, both included, in order within each of the parallel readers."""

    def __init__(self, start: int, end: int) -> None:
        if not all(isinstance(bound, int) and not isinstance(bound, bool) for bound in (start, end)):
            raise ValueError(f"NumberSequenceSource takes two whole numbers, not {start!r} and {end!r}.")
        if start > end:
            raise ValueError(f"NumberSequenceSource({start}, {end}): the start must not be after the end.")
        super().__init__()
        self._start = start
        self._end = end

    def _planner(self) -> SourcePlanner:
        return NumberSequence(self._start, self._end)

    def get_produced_type(self) -> TypeInformation:
        return Types.LONG()
