"""An operator and its subtasks in the shapes of Flink's REST API for a vertex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from penstock.control.attempts import Attempt, AttemptState
from penstock.control.job_control import JobDescription, OperatorDescription, SubtaskDescription
from penstock.rest import pressure
from penstock.rest.aggregates import Aggregated, aggregated
from penstock.rest.job_views import (
    IO_METRICS,
    TASK_STATES,
    IoMetrics,
    OwnVertex,
    end_time,
    io_metrics,
    own_vertex,
    task_state,
)


class OwnSubtask(TypedDict):
    busy: float
    backpressured: float
    idle: float


Subtask = TypedDict(
    "Subtask",
    {
        "subtask": int,
        "status": str,
        "attempt": int,
        "endpoint": str,
        "start-time": int,
        "start_time": int,
        "end-time": int,
        "duration": int,
        "metrics": IoMetrics,
        "taskmanager-id": str,
        "status-duration": dict[str, int],
        "penstock": OwnSubtask,
    },
)


class Vertex(TypedDict):
    id: str
    name: str
    parallelism: int
    maxParallelism: int
    now: int
    subtasks: list[Subtask]
    aggregated: Aggregated
    penstock: OwnVertex


class SubtaskTime(TypedDict):
    subtask: int
    endpoint: str
    duration: int
    timestamps: dict[str, int]


class SubtaskTimes(TypedDict):
    id: str
    name: str
    now: int
    subtasks: list[SubtaskTime]


class Metric(TypedDict):
    id: str
    value: str


SubtaskPressure = TypedDict(
    "SubtaskPressure",
    {
        "subtask": int,
        "attempt-number": int,
        "backpressureLevel": str,
        "backpressure-level": str,
        "ratio": float,
        "busyRatio": float,
        "idleRatio": float,
    },
)
BackPressure = TypedDict(
    "BackPressure",
    {
        "status": str,
        "backpressureLevel": str,
        "backpressure-level": str,
        "end-timestamp": int,
        "subtasks": list[SubtaskPressure],
    },
)
OnTaskManager = TypedDict(
    "OnTaskManager",
    {
        "endpoint": str,
        "taskmanager-id": str,
        "status": str,
        "start-time": int,
        "end-time": int,
        "duration": int,
        "metrics": IoMetrics,
        "status-counts": dict[str, int],
        "aggregated": Aggregated,
    },
)


class VertexTaskManagers(TypedDict):
    id: str
    name: str
    now: int
    taskmanagers: list[OnTaskManager]


VertexAccumulators = TypedDict("VertexAccumulators", {"id": str, "user-accumulators": list[dict[str, str]]})

SubtaskAccumulators = TypedDict(
    "SubtaskAccumulators",
    {"subtask": int, "attempt": int, "endpoint": str, "user-accumulators": list[dict[str, str]]},
)


class SubtasksAccumulators(TypedDict):
    id: str
    parallelism: int
    subtasks: list[SubtaskAccumulators]


AttemptAccumulators = TypedDict(
    "AttemptAccumulators", {"id": str, "subtask": int, "attempt": int, "user-accumulators": list[dict[str, str]]}
)

_UNKNOWN_WORKER = "(unassigned)"
_PAST_STATE = {
    AttemptState.RUNNING: "RUNNING",
    AttemptState.FINISHED: "FINISHED",
    AttemptState.CANCELED: "CANCELED",
    AttemptState.FAILED: "FAILED",
    AttemptState.LOST: "FAILED",
}


def subtask(job: JobDescription, each: SubtaskDescription) -> Subtask:
    shares, state = pressure.subtask_shares(each), task_state(job)
    started = each.started_at or job.started_at
    duration = max(0, job.started_at + job.duration_ms - started)
    return {
        "subtask": each.index,
        "status": state,
        "attempt": job.restarts,
        "endpoint": each.worker or _UNKNOWN_WORKER,
        "start-time": started,
        "start_time": started,
        "end-time": end_time(job),
        "duration": duration,
        "metrics": io_metrics(each.metrics),
        "taskmanager-id": each.worker or _UNKNOWN_WORKER,
        "status-duration": _durations(state, duration, started - job.started_at),
        "penstock": {"busy": shares.busy, "backpressured": shares.pressed, "idle": shares.idle},
    }


def past_subtask(job: JobDescription, index: int, attempt: Attempt) -> Subtask:
    """In an attempt that is over: when it ran and how it ended; its numbers went with its driver or its restart."""
    duration = 0 if attempt.ended_at is None else attempt.ended_at - attempt.started_at
    state = _PAST_STATE[attempt.state]
    return {
        **subtask(job, SubtaskDescription(index)),
        "status": state,
        "attempt": attempt.number,
        "start-time": attempt.started_at,
        "start_time": attempt.started_at,
        "end-time": -1 if attempt.ended_at is None else attempt.ended_at,
        "duration": duration,
        "status-duration": _durations(state, duration, 0),
    }


def _durations(state: str, duration: int, before: int) -> dict[str, int]:
    """In Flink's states of a task that is not over, -1 for those that it was never in."""
    live = ("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING")
    return {**dict.fromkeys(live, -1), "CREATED": max(0, before), state: duration}


def vertex(job: JobDescription, operator: OperatorDescription, now: int) -> Vertex:
    subtasks = [subtask(job, each) for each in operator.subtasks]
    return {
        "id": operator.uid,
        "name": operator.name,
        "parallelism": operator.parallelism,
        "maxParallelism": operator.max_parallelism,
        "now": now,
        "subtasks": subtasks,
        "aggregated": _aggregated(subtasks),
        "penstock": own_vertex(operator),
    }


def _aggregated(subtasks: Sequence[Subtask]) -> Aggregated:
    return aggregated([each["metrics"] for each in subtasks], [each["status-duration"] for each in subtasks])


def subtask_times(job: JobDescription, operator: OperatorDescription, now: int) -> SubtaskTimes:
    return {
        "id": operator.uid,
        "name": operator.name,
        "now": now,
        "subtasks": [
            {
                "subtask": each.index,
                "endpoint": each.worker or _UNKNOWN_WORKER,
                "duration": job.duration_ms,
                "timestamps": {
                    **dict.fromkeys(TASK_STATES, 0),
                    "CREATED": job.started_at,
                    task_state(job): each.started_at or job.started_at,
                },
            }
            for each in operator.subtasks
        ],
    }


def watermarks(operator: OperatorDescription) -> list[Metric]:
    name = "currentInputWatermark"
    return [
        {"id": f"{each.index}.{name}", "value": str(int(each.metrics[name]))}
        for each in operator.subtasks
        if name in each.metrics
    ]


def back_pressure(job: JobDescription, operator: OperatorDescription, now: int) -> BackPressure:
    shares = [(each, pressure.subtask_shares(each)) for each in operator.subtasks]
    worst = pressure.level_of(max((share.pressed for _, share in shares), default=0.0))
    return {
        "status": "ok",
        "backpressureLevel": worst,
        "backpressure-level": worst,
        "end-timestamp": now,
        "subtasks": [
            {
                "subtask": each.index,
                "attempt-number": job.restarts,
                "backpressureLevel": pressure.level_of(share.pressed),
                "backpressure-level": pressure.level_of(share.pressed),
                "ratio": share.pressed,
                "busyRatio": share.busy,
                "idleRatio": share.idle,
            }
            for each, share in shares
        ],
    }


def task_managers(job: JobDescription, operator: OperatorDescription, now: int) -> VertexTaskManagers:
    by_worker: dict[str, list[SubtaskDescription]] = {}
    for each in operator.subtasks:
        by_worker.setdefault(each.worker or _UNKNOWN_WORKER, []).append(each)
    return {
        "id": operator.uid,
        "name": operator.name,
        "now": now,
        "taskmanagers": [
            {
                "endpoint": worker,
                "taskmanager-id": worker,
                "status": task_state(job),
                "start-time": job.started_at,
                "end-time": end_time(job),
                "duration": job.duration_ms,
                "metrics": io_metrics({name: sum(s.metrics.get(name, 0) for s in subtasks) for name in IO_METRICS}),
                "status-counts": {**dict.fromkeys(TASK_STATES, 0), task_state(job): len(subtasks)},
                "aggregated": _aggregated([subtask(job, each) for each in subtasks]),
            }
            for worker, subtasks in by_worker.items()
        ],
    }


def vertex_accumulators(job: JobDescription, operator: OperatorDescription) -> VertexAccumulators:
    return {"id": operator.uid, "user-accumulators": _metrics(job.accumulators.get(operator.uid, {}))}


def subtasks_accumulators(job: JobDescription, operator: OperatorDescription) -> SubtasksAccumulators:
    return {
        "id": operator.uid,
        "parallelism": operator.parallelism,
        "subtasks": [
            {
                "subtask": each.index,
                "attempt": job.restarts,
                "endpoint": each.worker or _UNKNOWN_WORKER,
                "user-accumulators": user_metrics(job, operator, each),
            }
            for each in operator.subtasks
        ],
    }


def user_metrics(job: JobDescription, operator: OperatorDescription, each: SubtaskDescription) -> list[dict[str, str]]:
    """Those that functions have registered."""
    names = job.accumulators.get(operator.uid, {})
    return _metrics({name: each.metrics[name] for name in names if name in each.metrics})


def _metrics(values: Mapping[str, float]) -> list[dict[str, str]]:
    return [{"name": name, "type": "Metric", "value": str(value)} for name, value in values.items()]
