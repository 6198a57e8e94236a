"""Puts together what there is to say about a running job."""

from __future__ import annotations

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.common.options import value_of
from penstock.common.run_options import current_run_options
from penstock.control.attempts import AttemptHistory
from penstock.control.epoch_history import PHASES
from penstock.control.job_control import (
    HotKey,
    JobDescription,
    OperatorDescription,
    SampledStack,
    SubtaskDescription,
    WorkerDescription,
)
from penstock.control.job_epochs import JobEpochs, JobSpec
from penstock.control.job_home import JobHome
from penstock.control.job_record import inputs_of
from penstock.control.snapshot_history import SnapshotOverview, SnapshotStatus
from penstock.control.subtask_vitals import RATES
from penstock.metrics.values import MetricValue
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.clock import Clock

_MOST_STACKS = 300


class JobDescriber:
    """May be asked from any thread: everything is copied."""

    def __init__(
        self,
        spec: JobSpec,
        home: JobHome,
        epochs: JobEpochs,
        attempts: AttemptHistory,
        started_at: int,
        clock: Clock,
    ) -> None:
        self._spec = spec
        self._home = home
        self._epochs = epochs
        self._statistics = epochs.statistics
        self._attempts = attempts
        self._started_at = started_at
        self._clock = clock

    def describe(self, status: JobStatus, failure: Failure | None) -> JobDescription:
        now, job = self._clock(), self._spec.blueprint
        snapshots, attempts = self._epochs.snapshots.describe(), self._attempts.entries()
        configuration = self._spec.configuration
        under_way = self._epochs.planner.newest > self._epochs.store.latest.epoch
        self._statistics.settle(status is JobStatus.RUNNING and under_way)
        return JobDescription(
            job_id=job.settings.job_id,
            name=job.settings.job_name,
            parallelism=job.parallelism,
            started_at=self._started_at,
            duration_ms=now - self._started_at,
            progress=self._statistics.progress(status, now),
            operators=tuple(self._operator(operator) for operator in job.operators),
            attempts=attempts,
            snapshots=snapshots,
            failure=failure,
            metrics=self._job_metrics(snapshots, now - self._started_at, attempts[-1].number if attempts else 0),
            accumulators=self._statistics.metric_totals(),
            epochs=self._statistics.epochs.entries(),
            workers=tuple(
                WorkerDescription(id_, process.host, process.pid, process.resident_bytes, process.cpu_seconds)
                for id_, process in sorted(self._statistics.vitals.processes.copy().items())
            ),
            configuration=configuration.to_dict(),
            job_parameters={key: str(value) for key, value in job.settings.job_parameters.items()},
            script=current_run_options().script_path,
            engine=value_of(configuration, "penstock.engine"),
        )

    def _operator(self, operator: OperatorBlueprint) -> OperatorDescription:
        return OperatorDescription(
            operator.uid,
            operator.name,
            operator.kind,
            operator.parallelism,
            operator.level,
            self._statistics.records_by_operator[operator.id],
            operator.max_parallelism,
            operator.task_name,
            str(operator.origin),
            inputs_of(self._spec.blueprint, operator.id),
            tuple(self._subtask(operator, subtask) for subtask in range(operator.parallelism)),
        )

    def _subtask(self, operator: OperatorBlueprint, subtask: int) -> SubtaskDescription:
        vitals = self._statistics.vitals
        known = vitals.subtasks.get((operator.id, subtask))
        own = {**self._statistics.metrics_of(operator.uid, subtask), **vitals.metrics(operator.id, subtask)}
        stacks = sorted(vitals.stacks.get((operator.id, subtask), {}).copy().items(), key=lambda item: -item[1])
        return SubtaskDescription(
            subtask,
            None if known is None else known.worker,
            None if known is None else known.first_seen,
            numbers_of(own),
            tuple(SampledStack(frames, seen) for frames, seen in stacks[:_MOST_STACKS]),
            () if known is None else tuple(HotKey(key, seen) for key, seen in known.hot_keys),
            0 if known is None else known.keys_sampled,
            types_of(own),
        )

    def _job_metrics(self, snapshots: SnapshotOverview, uptime_ms: int, restarts: int) -> dict[str, float]:
        """Flink's names where it has them."""
        counts, epochs = snapshots.counts, self._statistics.epochs.entries()
        metrics: dict[str, float] = {
            "uptime": uptime_ms,
            "numRestarts": restarts,
            "totalNumberOfCheckpoints": counts.total,
            "numberOfInProgressCheckpoints": snapshots.in_progress,
            "numberOfCompletedCheckpoints": counts.completed,
            "numberOfFailedCheckpoints": counts.failed,
            "epoch.number": self._epochs.store.latest.epoch,
        }
        done = [entry for entry in snapshots.entries if entry.status is SnapshotStatus.COMPLETED]
        if done:
            metrics |= {"lastCheckpointDuration": done[-1].duration_ms or 0, "lastCheckpointSize": done[-1].bytes or 0}
        if epochs:
            last = epochs[-1]
            metrics |= {"epoch.records": last.records, "epoch.changedBytes": last.changed_bytes}
            for phase in (*PHASES, "computing", "duration"):
                metrics[f"epoch.{phase}"] = round(getattr(last, phase), 3)
        return metrics


def numbers_of(values: dict[str, MetricValue]) -> dict[str, float]:
    return {name + suffix: number for name, value in values.items() for suffix, number in value.numbers()}


def types_of(values: dict[str, MetricValue]) -> dict[str, str]:
    """Of those that are no gauges; in Flink rates are meters, and latencies are histograms."""
    types: dict[str, str] = {}
    for name, value in values.items():
        type_ = "meter" if name in RATES.values() else "histogram" if name.startswith("latency.") else value.TYPE
        if type_ != "gauge":
            types |= dict.fromkeys((name + suffix for suffix, _ in value.numbers()), type_)
    return types
