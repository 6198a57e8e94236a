"""Epochs for engines that run one after the other and ask how far the next one reads, as Spark's micro-batches do."""

from __future__ import annotations

from collections.abc import Callable

from penstock.control.epoch_completion import EpochCompletion
from penstock.control.epoch_planner import EpochPlanner
from penstock.control.job_machine import JobEvent, OutputClosed
from penstock.control.work import EpochPlan, Offset, Work
from penstock.runtime.report import SubtaskReport


class MicroBatches:
    """Puts the two halves together: whoever asks for the next epoch has committed the one before."""

    def __init__(
        self,
        planner: EpochPlanner,
        completion: EpochCompletion,
        fence: Callable[[], None],
        tell: Callable[[JobEvent], None],
    ) -> None:
        self._planner = planner
        self._completion = completion
        self._fence = fence
        self._tell = tell
        self._running: EpochPlan | None = None

    def initial_offset(self) -> Offset:
        return self._planner.initial_offset()

    def latest_offset(self, start: Offset) -> Offset:
        """The end of the next epoch; waits a moment and gives the start when there is none."""
        self._fence()
        self._completion.store.check_offsets(start)
        try:
            self._completion.publish()
            # After a savepoint that stops the job not a single record more may become visible.
            return start if self._completion.ended else self._planner.next_offset(start)
        except BrokenPipeError:
            # Whoever reads the program's output has had enough (`| head`): the job ends as if it had been cancelled.
            self._tell(OutputClosed())
            return start

    def partitions(self, start: Offset, end: Offset) -> list[Work]:
        """The tasks of level 0, also of an epoch that was planned before a failure."""
        self._fence()
        self._completion.store.check_offsets(start, end)
        self._running = self._planner.plan(start, end)
        return self._planner.works(self._running, self._completion.store.get(start["epoch"]))

    def complete(self, reports: list[SubtaskReport]) -> None:
        self._fence()
        self._completion.complete(self._running, reports)
        self._running = None
