"""Sources of one alignment group wait for the slowest: who is too far ahead in event time skips epochs.

So do single splits of a source, where its reader can leave them out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.common.watermark_strategy import Alignment
from penstock.runtime.batch import MAX_TIMESTAMP
from penstock.runtime.blueprint import JobBlueprint, OperatorBlueprint

Watermarks = Callable[[int], list[int]]  # of the subtasks of an operator; idle ones are at the end of time


@dataclass(frozen=True)
class _Member:
    watermarks: int  # the operator that makes them
    alignment: Alignment


class WatermarkAlignment:
    """Looks at the watermarks of the last completed epoch, so that it acts from epoch to epoch."""

    def __init__(self, job: JobBlueprint, watermarks: Watermarks) -> None:
        self._watermarks = watermarks
        operators = {operator.id: operator for operator in job.operators}
        self._members: dict[str, _Member] = {}  # by uid of the source
        for edge in job.edges:
            alignment = _alignment_of(operators[edge.target])
            if alignment is not None:
                self._members[operators[edge.source].uid] = _Member(edge.target, alignment)

    def may_read(self, source: str) -> bool:
        limit = self.limit(source)
        own = [] if limit is None else self._watermarks(self._members[source].watermarks)
        return limit is None or not own or min(own) <= limit

    def limit(self, source: str) -> int | None:
        """Splits of the source that are further have to wait; None for no limit."""
        member = self._members.get(source)
        if member is None:
            return None
        slowest = self._slowest(member.alignment.group)
        return None if slowest == MAX_TIMESTAMP else slowest + member.alignment.max_drift_ms

    def _slowest(self, group: str) -> int:
        members = [member for member in self._members.values() if member.alignment.group == group]
        return min((mark for member in members for mark in self._watermarks(member.watermarks)), default=MAX_TIMESTAMP)


def _alignment_of(operator: OperatorBlueprint) -> Alignment | None:
    if operator.kind != "timestamps" or not operator.params.get("part_of_source"):
        return None
    found: Alignment | None = operator.function.alignment
    return found
