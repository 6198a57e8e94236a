"""A job in the shapes of Flink's REST API; what Flink does not have is below "penstock"."""

from __future__ import annotations

from typing import Any, TypedDict

from penstock.common.credentials import shown_settings
from penstock.common.job_status import JobStatus
from penstock.common.json_data import to_json
from penstock.control.job_control import JobDescription, OperatorDescription
from penstock.rest import pressure

IO_METRICS = (
    "numBytesIn", "numBytesOut", "numRecordsIn", "numRecordsOut", "accumulateBackPressuredTimeMs",
    "accumulateIdleTimeMs", "accumulateBusyTimeMs",
)  # fmt: skip
TASK_STATES = (
    "CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING", "FINISHED", "CANCELING", "CANCELED", "FAILED",
    "RECONCILING",
)  # fmt: skip
_TASK_STATE = {
    JobStatus.RUNNING: "RUNNING",
    JobStatus.FINISHED: "FINISHED",
    JobStatus.CANCELED: "CANCELED",
    JobStatus.CANCELLING: "CANCELING",
    JobStatus.FAILED: "FAILED",
    JobStatus.FAILING: "FAILED",
    JobStatus.RESTARTING: "SCHEDULED",
}


class JobId(TypedDict):
    id: str
    status: str


class Jobs(TypedDict):
    jobs: list[JobId]


OwnOverview = TypedDict(
    "OwnOverview",
    {
        "epoch": int,
        "records-in": int,
        "records-out": int,
        "rate": float,
        "watermark-lag": int | None,
        "restarts": int,
        "backpressure": str,
        "waiting": str | None,
        "script": str | None,
        "parallelism": int,
    },
)
JobOverview = TypedDict(
    "JobOverview",
    {
        "jid": str,
        "name": str,
        "state": str,
        "jobType": str,
        "schedulerType": str,
        "start-time": int,
        "end-time": int,
        "duration": int,
        "last-modification": int,
        "tasks": dict[str, int],
        "pending-operators": int,
        "penstock": OwnOverview,
    },
)


class JobsOverview(TypedDict):
    jobs: list[JobOverview]


IoMetrics = TypedDict(
    "IoMetrics",
    {
        "read-bytes": int,
        "read-bytes-complete": bool,
        "write-bytes": int,
        "write-bytes-complete": bool,
        "read-records": int,
        "read-records-complete": bool,
        "write-records": int,
        "write-records-complete": bool,
        "accumulated-backpressured-time": int,
        "accumulated-idle-time": int,
        "accumulated-busy-time": float,
    },
)
OwnVertex = TypedDict(
    "OwnVertex",
    {
        "kind": str,
        "level": int,
        "chain": str,
        "origin": str,
        "busy": float,
        "backpressured": float,
        "idle": float,
        "backpressure": str,
        "rate-in": float,
        "rate-out": float,
        "watermark": int | None,
    },
)
JobVertex = TypedDict(
    "JobVertex",
    {
        "id": str,
        "slotSharingGroupId": str,
        "name": str,
        "maxParallelism": int,
        "parallelism": int,
        "status": str,
        "start-time": int,
        "end-time": int,
        "duration": int,
        "tasks": dict[str, int],
        "metrics": IoMetrics,
        "penstock": OwnVertex,
    },
)


class PlanInput(TypedDict):
    num: int
    id: str
    ship_strategy: str
    exchange: str
    penstock: dict[str, float]


class OwnPlanNode(TypedDict):
    kind: str
    level: int
    chain: str
    origin: str


class PlanNode(TypedDict):
    id: str
    parallelism: int
    operator: str
    operator_strategy: str
    description: str
    inputs: list[PlanInput]
    optimizer_properties: dict[str, str]
    penstock: OwnPlanNode


class Plan(TypedDict):
    jid: str
    name: str
    type: str
    nodes: list[PlanNode]


class JobPlan(TypedDict):
    plan: Plan


OwnJob = TypedDict(
    "OwnJob",
    {
        "parallelism": int,
        "engine": str,
        "epoch": int,
        "records-in": int,
        "records-out": int,
        "rate": float,
        "watermark-lag": int | None,
        "restarts": int,
        "attempts": list[Any],
        "failure": Any,
        "waiting": str | None,
        "script": str | None,
    },
)
JobDetails = TypedDict(
    "JobDetails",
    {
        "jid": str,
        "name": str,
        "isStoppable": bool,
        "state": str,
        "job-type": str,
        "schedulerType": str,
        "pending-operators": int,
        "start-time": int,
        "end-time": int,
        "duration": int,
        "maxParallelism": int,
        "now": int,
        "timestamps": dict[str, int],
        "vertices": list[JobVertex],
        "status-counts": dict[str, int],
        "plan": Plan,
        "penstock": OwnJob,
    },
)
ExecutionConfig = TypedDict(
    "ExecutionConfig",
    {
        "execution-mode": str,
        "restart-strategy": str,
        "job-parallelism": int,
        "object-reuse-mode": bool,
        "user-config": dict[str, str],
    },
)
JobConfig = TypedDict(
    "JobConfig",
    {"jid": str, "name": str, "execution-config": ExecutionConfig, "penstock": dict[str, dict[str, str]]},
)


class Status(TypedDict):
    status: str


class Accumulator(TypedDict):
    name: str
    type: str
    value: str


Accumulators = TypedDict(
    "Accumulators",
    {
        "job-accumulators": list[Accumulator],
        "user-task-accumulators": list[Accumulator],
        "serialized-user-task-accumulators": dict[str, str],
    },
)


def job_list(jobs: list[JobDescription]) -> Jobs:
    return {"jobs": [{"id": job.job_id, "status": job.state.name} for job in jobs]}


def job_overview(job: JobDescription) -> JobOverview:
    progress = job.progress
    return {
        "jid": job.job_id,
        "name": job.name,
        "state": job.state.name,
        "jobType": "STREAMING",
        "schedulerType": "Default",
        "start-time": job.started_at,
        "end-time": end_time(job),
        "duration": job.duration_ms,
        "last-modification": job.started_at + job.duration_ms,
        "tasks": {"total": sum(op.parallelism for op in job.operators), **_lower(_counts(job, job.operators))},
        "pending-operators": 0,
        "penstock": {
            "epoch": progress.epoch,
            "records-in": progress.records_in,
            "records-out": progress.records_out,
            "rate": progress.rate,
            "watermark-lag": progress.watermark_lag_ms,
            "restarts": job.restarts,
            "backpressure": pressure.worst_level(job),
            "waiting": job.waiting,
            "script": job.script,
            "parallelism": job.parallelism,
        },
    }


def end_time(job: JobDescription) -> int:
    return job.started_at + job.duration_ms if job.state.is_globally_terminal_state() else -1


def task_state(job: JobDescription) -> str:
    return _TASK_STATE.get(job.state, "CREATED")


def job_details(job: JobDescription, now_ms: int) -> JobDetails:
    return {
        "jid": job.job_id,
        "name": job.name,
        "isStoppable": not job.state.is_globally_terminal_state(),
        "state": job.state.name,
        "job-type": "STREAMING",
        "schedulerType": "Default",
        "pending-operators": 0,
        "start-time": job.started_at,
        "end-time": end_time(job),
        "duration": job.duration_ms,
        "maxParallelism": max((operator.max_parallelism for operator in job.operators), default=-1),
        "now": now_ms,
        "timestamps": _timestamps(job),
        "vertices": [_vertex(operator, job) for operator in job.operators],
        "status-counts": {state: len(job.operators) if state == task_state(job) else 0 for state in TASK_STATES},
        "plan": plan(job)["plan"],
        "penstock": {
            "parallelism": job.parallelism,
            "engine": job.engine,
            "epoch": job.progress.epoch,
            "records-in": job.progress.records_in,
            "records-out": job.progress.records_out,
            "rate": job.progress.rate,
            "watermark-lag": job.progress.watermark_lag_ms,
            "restarts": job.restarts,
            "attempts": to_json(job.attempts),
            "failure": to_json(job.failure),
            "waiting": job.waiting,
            "script": job.script,
        },
    }


def _timestamps(job: JobDescription) -> dict[str, int]:
    """When the job came into each state, as far as it is known."""
    known = dict.fromkeys((state.name for state in JobStatus), 0)
    known |= {"INITIALIZING": job.started_at, "CREATED": job.started_at}
    if job.attempts:
        known["RUNNING"] = job.attempts[-1].started_at
    if job.state.is_globally_terminal_state():
        known[job.state.name] = end_time(job)
    return known


def _counts(job: JobDescription, operators: tuple[OperatorDescription, ...]) -> dict[str, int]:
    state = task_state(job)
    return {each: sum(op.parallelism for op in operators) if each == state else 0 for each in TASK_STATES}


def _lower(counts: dict[str, int]) -> dict[str, int]:
    return {state.lower(): count for state, count in counts.items()}


def _vertex(operator: OperatorDescription, job: JobDescription) -> JobVertex:
    return {
        "id": operator.uid,
        "slotSharingGroupId": "default",
        "name": operator.name,
        "maxParallelism": operator.max_parallelism,
        "parallelism": operator.parallelism,
        "status": task_state(job),
        "start-time": job.started_at,
        "end-time": end_time(job),
        "duration": job.duration_ms,
        "tasks": _counts(job, (operator,)),
        "metrics": io_metrics(
            {**{name: operator.total(name) for name in IO_METRICS}, "numRecordsIn": operator.records_in}
        ),
        "penstock": own_vertex(operator),
    }


def own_vertex(operator: OperatorDescription) -> OwnVertex:
    marks = [s.metrics["currentInputWatermark"] for s in operator.subtasks if "currentInputWatermark" in s.metrics]
    shares = pressure.shares(operator)
    return {
        "kind": operator.kind,
        "level": operator.level,
        "chain": operator.chain,
        "origin": operator.origin,
        "busy": shares.busy,
        "backpressured": shares.pressed,
        "idle": shares.idle,
        "backpressure": pressure.level_of(shares.pressed),
        "rate-in": operator.total("numRecordsInPerSecond"),
        "rate-out": operator.total("numRecordsOutPerSecond"),
        "watermark": int(min(marks)) if marks and abs(min(marks)) < 1 << 62 else None,
    }


def io_metrics(metrics: dict[str, float]) -> IoMetrics:
    def number(name: str) -> int:
        return int(metrics.get(name, 0))

    return {
        "read-bytes": number("numBytesIn"),
        "read-bytes-complete": True,
        "write-bytes": number("numBytesOut"),
        "write-bytes-complete": True,
        "read-records": number("numRecordsIn"),
        "read-records-complete": True,
        "write-records": number("numRecordsOut"),
        "write-records-complete": True,
        "accumulated-backpressured-time": number("accumulateBackPressuredTimeMs"),
        "accumulated-idle-time": number("accumulateIdleTimeMs"),
        "accumulated-busy-time": float(metrics.get("accumulateBusyTimeMs", 0)),
    }


def plan(job: JobDescription) -> JobPlan:
    rates = {operator.uid: operator.total("numRecordsOutPerSecond") for operator in job.operators}
    nodes: list[PlanNode] = [
        {
            "id": operator.uid,
            "parallelism": operator.parallelism,
            "operator": operator.kind,
            "operator_strategy": "",
            "description": operator.name,
            "inputs": [
                {
                    "num": input_.index,
                    "id": input_.uid,
                    "ship_strategy": input_.strategy,
                    "exchange": "pipelined_bounded" if input_.exchange else "local",
                    "penstock": {"rate": rates.get(input_.uid, 0.0)},
                }
                for input_ in operator.inputs
            ],
            "optimizer_properties": {},
            "penstock": {
                "kind": operator.kind,
                "level": operator.level,
                "chain": operator.chain,
                "origin": operator.origin,
            },
        }
        for operator in job.operators
    ]
    return {"plan": {"jid": job.job_id, "name": job.name, "type": "STREAMING", "nodes": nodes}}


def job_config(job: JobDescription) -> JobConfig:
    settings = job.configuration
    return {
        "jid": job.job_id,
        "name": job.name,
        "execution-config": {
            "execution-mode": "PIPELINED",
            "restart-strategy": settings.get("restart-strategy.type") or "Cluster level default restart strategy",
            "job-parallelism": job.parallelism,
            "object-reuse-mode": False,
            "user-config": shown_settings(job.job_parameters),
        },
        "penstock": {"configuration": shown_settings(settings)},
    }


def accumulators(job: JobDescription) -> Accumulators:
    names = {operator.uid: operator.name for operator in job.operators}
    return {
        "job-accumulators": [],
        "user-task-accumulators": [
            {"name": f"{names.get(uid, uid)}.{name}", "type": "Metric", "value": str(value)}
            for uid, values in job.accumulators.items()
            for name, value in values.items()
        ],
        "serialized-user-task-accumulators": {},  # Flink's are Java objects
    }
