"""Numbers about a job, counted over the epochs that this driver has completed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.common.job_status import JobStatus
from penstock.control.epoch_history import EpochHistory
from penstock.control.progress import JobProgress
from penstock.control.subtask_vitals import SubtaskVitals
from penstock.metrics.values import MetricValue, Number
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.report import SubtaskReport


@dataclass(frozen=True)
class OperatorMetric:
    """One metric of one operator, as its subtasks report it since the job began."""

    uid: str
    name: str
    by_subtask: dict[int, MetricValue]

    def numbers(self) -> dict[str, Number]:
        """Over all subtasks: counts are added, of distributions the smallest minimum counts, and so on."""
        first, *others = self.by_subtask.values()
        together = first
        for value in others:
            together = together.plus(value) if type(value) is type(together) else value  # type: ignore[arg-type]
        return {self.name + suffix: number for suffix, number in together.numbers()}


class JobStatistics:
    """Whoever asks gets a picture of this moment."""

    def __init__(self, job: JobBlueprint, sources: Iterable[int], clock: Clock = system_clock) -> None:
        self._clock = clock
        self.vitals = SubtaskVitals(job)
        self.epochs = EpochHistory()
        self._sources = tuple(sources)
        self._sinks = [operator.id for operator in job.operators if operator.params.get("sink")]
        self._watermark = MIN_TIMESTAMP
        self._watermarks: dict[tuple[int, int], int] = {}  # by operator and subtask; highest when idle
        self._rate = 0.0  # of the last epoch, until there is one of a whole second
        self._metrics: dict[tuple[str, int], dict[str, MetricValue]] = {}  # by uid and subtask
        self.epoch = 0
        self.records_by_operator: Counter[int] = Counter()

    def count(self, reports: Sequence[SubtaskReport], elapsed_ms: float) -> None:
        read = self.records_read(reports)
        self.epoch += 1
        self.vitals.count(reports, self._clock())
        for report in reports:
            self.records_by_operator.update(report.records_in)
            for id_, watermark in report.watermarks.items():
                self._watermarks[id_, report.subtask] = MAX_TIMESTAMP if id_ in report.idle else watermark
            self._metrics |= {(uid, report.subtask): values for uid, values in report.metrics.items()}
        self._rate = read / elapsed_ms * 1000 if elapsed_ms else 0.0
        watermarks = [r.watermarks[id_] for r in reports for id_ in self._sinks if id_ in r.watermarks]
        self._watermark = min(watermarks, default=self._watermark)

    def settle(self, under_way: bool) -> None:
        """Before numbers are shown: rates are those of the last epochs, unless nothing happens any more."""
        if self.vitals.settle(under_way):
            self._rate = 0.0

    def records_read(self, reports: Sequence[SubtaskReport]) -> int:
        return sum(report.records_in.get(id_, 0) for report in reports for id_ in self._sources)

    def backlog(self, reports: Sequence[SubtaskReport], share: int) -> bool:
        """Whether a source had more to read than its share, or at least half of that to read."""
        read = (sum(report.records_in.get(id_, 0) for report in reports) for id_ in self._sources)
        return any(report.held_back for report in reports) or 2 * max(read, default=0) >= share

    def watermarks_of(self, operator: int) -> list[int]:
        """Of its subtasks, as far as they have reported; idle and finished ones hold nobody back."""
        return [mark for (id_, _), mark in dict(self._watermarks).items() if id_ == operator]

    def metrics(self) -> tuple[OperatorMetric, ...]:
        """By uid and name; each lists its subtasks."""
        found: dict[tuple[str, str], dict[int, MetricValue]] = {}
        for (uid, subtask), values in sorted(dict(self._metrics).items()):
            for name, value in values.items():
                found.setdefault((uid, name), {})[subtask] = value
        return tuple(OperatorMetric(uid, name, by_subtask) for (uid, name), by_subtask in found.items())

    def metrics_of(self, uid: str, subtask: int) -> dict[str, MetricValue]:
        """Of the functions of one subtask."""
        return self._metrics.get((uid, subtask), {})

    def metric_totals(self) -> dict[str, dict[str, Number]]:
        """By uid and name, put together over the subtasks."""
        totals: dict[str, dict[str, Number]] = {}
        for metric in self.metrics():
            totals.setdefault(metric.uid, {}).update(metric.numbers())
        return totals

    def progress(self, state: JobStatus, now: int) -> JobProgress:
        return JobProgress(
            state,
            self.epoch,
            sum(self.records_by_operator[id_] for id_ in self._sources),
            sum(self.records_by_operator[id_] for id_ in self._sinks),
            self._rate if (rate := self.vitals.read_rate(self._sources)) is None else rate,
            None if self._watermark in (MIN_TIMESTAMP, MAX_TIMESTAMP) else now - self._watermark,
        )
