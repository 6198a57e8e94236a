"""Drives a container through whole epochs, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.runtime.container import Container
from penstock.runtime.exchange import ExchangeRow
from penstock.runtime.hosting import run_epoch
from penstock.runtime.report import SubtaskReport
from penstock.runtime.sources.base import Assignment


def whole_epoch(
    container: Container, rows: Iterable[ExchangeRow] = (), assignments: dict[int, Assignment] | None = None
) -> tuple[list[ExchangeRow], SubtaskReport]:
    """What a container sends in an epoch, and its report."""
    sent: list[ExchangeRow] = []
    steps = run_epoch(container, rows, assignments)
    while True:
        try:
            sent.append(next(steps))
        except StopIteration as end:
            return sent, end.value
