"""The endpoints about one job: what it is, how it goes, and what may be asked of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any, Literal, TypedDict

from penstock.control.attempts import Attempt, AttemptState
from penstock.control.job_control import JobControl, JobDescription, OperatorDescription
from penstock.control.snapshot_history import HistoryEntry
from penstock.rest import checkpoint_views, cluster_views, job_views, metric_views, vertex_views
from penstock.rest.cluster import Cluster
from penstock.rest.endpoint import Endpoint, Query, Reply, Request, bad_request, not_found
from penstock.rest.exception_views import Exceptions, exception_history
from penstock.rest.flame_graph import FlameGraph, flame_graph

Format = Literal["CANONICAL", "NATIVE"]
SavepointRequest = TypedDict(
    "SavepointRequest",
    {
        "target-directory": str | None,
        "cancel-job": bool | None,
        "formatType": str | None,
        "triggerId": str | None,
    },
    total=False,
)


class StopRequest(TypedDict, total=False):
    targetDirectory: str | None
    drain: bool | None
    formatType: str | None
    triggerId: str | None


class CheckpointRequest(TypedDict, total=False):
    checkpointType: str | None
    formatType: str | None
    triggerId: str | None


Triggered = TypedDict("Triggered", {"request-id": str})


class TriggerStatus(TypedDict):
    id: str


FailureCause = TypedDict("FailureCause", {"class": str, "stack-trace": str})
TriggerResult = TypedDict(
    "TriggerResult", {"location": str, "checkpointId": int, "failure-cause": FailureCause}, total=False
)


class TriggerOutcome(TypedDict, total=False):
    status: TriggerStatus
    operation: TriggerResult


EndedJob = TypedDict(
    "EndedJob",
    {
        "id": str,
        "name": str,
        "application-status": str,
        "accumulator-results": dict[str, Any],
        "start-time": int,
        "end-time": int,
        "net-runtime": int,
        "failure-cause": FailureCause,
    },
    total=False,
)
ExecutionResult = TypedDict("ExecutionResult", {"status": TriggerStatus, "job-execution-result": EndedJob}, total=False)


class Nothing(TypedDict):
    pass


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def control_of(cluster: Cluster, request: Request) -> JobControl:
    control = cluster.job(request.path["job"])
    if control is None:
        raise not_found(f"Job {request.path['job']} not found")
    return control


def job_of(cluster: Cluster, request: Request) -> JobDescription:
    return control_of(cluster, request).describe()


def vertex_of(job: JobDescription, request: Request) -> OperatorDescription:
    uid = request.path["vertex"]
    found = next((operator for operator in job.operators if operator.uid == uid), None)
    if found is None:
        raise not_found(f"the job {job.job_id} has no operator with the uid {uid}")
    return found


def subtask_of(job: JobDescription, request: Request) -> Any:
    operator, text = vertex_of(job, request), request.path["subtask"]
    if not text.isdecimal() or int(text) >= len(operator.subtasks):
        raise not_found(f"{operator.name!r} has the subtasks 0 to {operator.parallelism - 1}, not {text}")
    return operator.subtasks[int(text)]


def _about_job(view: Callable[[JobDescription], Any]) -> Callable[[Cluster, Request], Reply]:
    return lambda cluster, request: Reply(view(job_of(cluster, request)))


def _about_vertex(view: Callable[[JobDescription, OperatorDescription], Any]) -> Callable[[Cluster, Request], Reply]:
    def handle(cluster: Cluster, request: Request) -> Reply:
        job = job_of(cluster, request)
        return Reply(view(job, vertex_of(job, request)))

    return handle


def _exceptions(cluster: Cluster, request: Request) -> Reply:
    job = job_of(cluster, request)
    ended = job.started_at + job.duration_ms
    before = Attempt(0, AttemptState.FAILED, job.started_at, ended, failure=job.failure)
    return Reply(exception_history(job.attempts, request.query.get("maxExceptions") or 16, before))


def _execution_result(cluster: Cluster, request: Request) -> Reply:
    job = job_of(cluster, request)
    if not job.state.is_globally_terminal_state():
        return Reply({"status": {"id": "IN_PROGRESS"}})
    result: EndedJob = {
        "id": job.job_id,
        "name": job.name,
        "application-status": {"FINISHED": "SUCCEEDED"}.get(job.state.name, job.state.name),
        "accumulator-results": {},
        "start-time": job.started_at,
        "end-time": job.started_at + job.duration_ms,
        "net-runtime": job.duration_ms,
    }
    if job.failure is not None:
        result["failure-cause"] = {"class": job.failure.exception, "stack-trace": str(job.failure)}
    return Reply({"status": {"id": "COMPLETED"}, "job-execution-result": result})


def _job_metrics(cluster: Cluster, request: Request) -> Reply:
    return Reply(metric_views.selected(metric_views.job_metrics(job_of(cluster, request)), request.query.get("get")))


def _vertex_metrics(cluster: Cluster, request: Request) -> Reply:
    vertex = vertex_of(job_of(cluster, request), request)
    return Reply(metric_views.selected(metric_views.vertex_metrics(vertex), request.query.get("get")))


def _subtasks_metrics(cluster: Cluster, request: Request) -> Reply:
    vertex = vertex_of(job_of(cluster, request), request)
    wanted = request.query.get("subtasks")
    chosen = [each.metrics for each in vertex.subtasks if not wanted or str(each.index) in wanted]
    return Reply(metric_views.aggregated(chosen, request.query.get("get"), request.query.get("agg")))


def _subtask(cluster: Cluster, request: Request) -> Reply:
    job = job_of(cluster, request)
    return Reply(vertex_views.subtask(job, subtask_of(job, request)))


def _attempt_of(job: JobDescription, request: Request) -> Attempt | None:
    """None: the one that runs, or ran last."""
    text = request.path["attempt"]
    if text == str(job.restarts):
        return None
    found = next((each for each in job.attempts if str(each.number) == text), None)
    if found is None:
        raise not_found(f"the job {job.job_id} has no attempt {text} that is known any more")
    return found


def _subtask_attempt(cluster: Cluster, request: Request) -> Reply:
    job = job_of(cluster, request)
    subtask, attempt = subtask_of(job, request), _attempt_of(job, request)
    if attempt is None:
        return Reply(vertex_views.subtask(job, subtask))
    return Reply(vertex_views.past_subtask(job, subtask.index, attempt))


def _attempt_accumulators(cluster: Cluster, request: Request) -> Reply:
    job = job_of(cluster, request)
    operator, subtask, attempt = vertex_of(job, request), subtask_of(job, request), _attempt_of(job, request)
    return Reply(
        {
            "id": operator.uid,
            "subtask": subtask.index,
            "attempt": job.restarts if attempt is None else attempt.number,
            "user-accumulators": [] if attempt is not None else vertex_views.user_metrics(job, operator, subtask),
        }
    )


def _subtask_metrics(cluster: Cluster, request: Request) -> Reply:
    subtask = subtask_of(job_of(cluster, request), request)
    return Reply(metric_views.selected(subtask.metrics, request.query.get("get")))


def _flame_graph(cluster: Cluster, request: Request) -> Reply:
    if request.query.get("type") == "off_cpu":
        raise bad_request("stacks are sampled while operators compute: the type is on_cpu or full")
    operator = vertex_of(job_of(cluster, request), request)
    return Reply(flame_graph(operator, request.query.get("subtaskindex"), now_ms()))


def _snapshot(job: JobDescription, request: Request) -> HistoryEntry:
    text = request.path["checkpoint"]
    found = next((entry for entry in job.snapshots.entries if str(entry.id) == text), None)
    if found is None:
        raise not_found(f"the history of the job {job.job_id} has no checkpoint {text}")
    return found


def _checkpoint_details(cluster: Cluster, request: Request) -> Reply:
    job = job_of(cluster, request)
    return Reply(checkpoint_views.checkpoint_details(_snapshot(job, request), job))


def _checkpoint_subtasks(cluster: Cluster, request: Request) -> Reply:
    job = job_of(cluster, request)
    return Reply(checkpoint_views.checkpoint_subtasks(_snapshot(job, request), vertex_of(job, request)))


def _trigger_savepoint(cluster: Cluster, request: Request) -> Reply:
    control, directory = control_of(cluster, request), request.body.get("target-directory")
    if request.body.get("cancel-job"):
        # Not a savepoint and then a cancel: what happens between the two would happen again after a restore.
        return _trigger(cluster, request.body, lambda: control.stop(directory, drain=False))
    return _trigger(cluster, request.body, lambda: control.savepoint(directory))


def _trigger_checkpoint(cluster: Cluster, request: Request) -> Reply:
    return _trigger(cluster, request.body, control_of(cluster, request).checkpoint)


def _stop(cluster: Cluster, request: Request) -> Reply:
    control, drain = control_of(cluster, request), bool(request.body.get("drain"))
    return _trigger(cluster, request.body, lambda: control.stop(request.body.get("targetDirectory"), drain))


def _trigger(cluster: Cluster, fields: Mapping[str, Any], operation: Callable[[], Future[str]]) -> Reply:
    if fields.get("formatType") not in (None, "CANONICAL"):
        raise bad_request(f"savepoints are written as CANONICAL only, not as {fields['formatType']}")
    trigger_id = cluster.triggers.start(operation, fields.get("triggerId"))
    return Reply({"request-id": trigger_id}, HTTPStatus.ACCEPTED)


def _outcome(cluster: Cluster, request: Request) -> Reply:
    outcome = cluster.triggers.outcome(request.path["trigger"])
    if outcome is None:
        raise not_found(f"no operation was triggered under the id {request.path['trigger']}")
    return Reply(outcome)


def _checkpoint_outcome(cluster: Cluster, request: Request) -> Reply:
    """Flink names the checkpoint by its number here."""
    reply = _outcome(cluster, request)
    location = reply.body.get("operation", {}).get("location")
    if location is not None:
        snapshots = job_of(cluster, request).snapshots.entries
        number = next((entry.id for entry in reversed(snapshots) if entry.path == location), None)
        if number is not None:
            reply.body["operation"]["checkpointId"] = number
    return reply


def _rescale(cluster: Cluster, request: Request) -> Reply:
    control_of(cluster, request)
    parallelism = request.query.get("parallelism")
    if parallelism is None or parallelism < 1:
        raise bad_request("give the new parallelism, a number of at least 1: ?parallelism=N")
    return Reply({"request-id": cluster.rescale(request.path["job"], parallelism)}, HTTPStatus.ACCEPTED)


def _cancel(cluster: Cluster, request: Request) -> Reply:
    control, mode = control_of(cluster, request), request.query.get("mode") or "cancel"
    if mode != "cancel":
        raise bad_request(f"the mode {mode!r} is not known; POST to .../stop, or use mode=cancel")
    # On a thread of its own: it returns when the job has ended, and the job ends after this server has.
    threading.Thread(target=control.cancel, name="penstock-rest-cancel", daemon=True).start()
    return Reply({}, HTTPStatus.ACCEPTED)


_VERTEX = "/jobs/:job/vertices/:vertex"
_SUBTASKS = Query("subtasks", "indices of the subtasks that count; without it, all", many=True)
_METRICS = list[metric_views.MetricValue]
_AGGREGATED = list[metric_views.AggregatedMetric]
_AT = vertex_views

JOB_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/jobs/:job", "state, times, operators and numbers of a job",
             _about_job(lambda job: job_views.job_details(job, now_ms())), job_views.JobDetails),
    Endpoint("GET", "/jobs/:job/status", "only its state",
             _about_job(lambda job: {"status": job.state.name}), job_views.Status),
    Endpoint("GET", "/jobs/:job/plan", "the graph", _about_job(job_views.plan), job_views.JobPlan),
    Endpoint("GET", "/jobs/:job/config", "how the job is configured",
             _about_job(job_views.job_config), job_views.JobConfig),
    Endpoint("GET", "/jobs/:job/jobmanager/config", "the options of its driver",
             _about_job(lambda job: cluster_views.key_values(job.configuration)), list[cluster_views.KeyValue]),
    Endpoint("GET", "/jobs/:job/exceptions", "why attempts of the job have ended", _exceptions, Exceptions,
             (Query("maxExceptions", "at most so many", int),)),
    Endpoint("GET", "/jobs/:job/accumulators", "what metrics of functions say at present",
             _about_job(job_views.accumulators), job_views.Accumulators,
             (Query("includeSerializedValue", "true or false, which is the same here"),)),
    Endpoint("GET", "/jobs/:job/execution-result", "how the job has ended", _execution_result, ExecutionResult),
    Endpoint("GET", "/jobs/:job/metrics", "metrics of the job as a whole", _job_metrics, _METRICS, (metric_views.GET,)),
    Endpoint("PATCH", "/jobs/:job", "cancel at once", _cancel, Nothing, (Query("mode", "cancel"),)),
    Endpoint("POST", "/jobs/:job/savepoints", "take a savepoint, and cancel if asked for", _trigger_savepoint,
             Triggered, body=SavepointRequest),
    Endpoint("GET", "/jobs/:job/savepoints/:trigger", "what became of a savepoint or stop", _outcome, TriggerOutcome),
    Endpoint("POST", "/jobs/:job/stop", "take a savepoint and stop, draining if asked for", _stop, Triggered,
             body=StopRequest),
    Endpoint("PATCH", "/jobs/:job/rescaling", "go on with another parallelism, from a savepoint", _rescale, Triggered,
             (Query("parallelism", "the new default parallelism", int),)),
    Endpoint("GET", "/jobs/:job/rescaling/:trigger", "what became of it", _outcome, TriggerOutcome),
    Endpoint("GET", "/jobs/:job/checkpoints", "checkpoints and savepoints that were taken",
             _about_job(lambda job: checkpoint_views.checkpoint_statistics(job.snapshots)),
             checkpoint_views.Checkpoints),
    Endpoint("POST", "/jobs/:job/checkpoints", "take a checkpoint now", _trigger_checkpoint, Triggered,
             body=CheckpointRequest),
    Endpoint("GET", "/jobs/:job/checkpoints/config", "how checkpoints are configured",
             _about_job(checkpoint_views.checkpoint_config), checkpoint_views.CheckpointConfig),
    Endpoint("GET", "/jobs/:job/checkpoints/details/:checkpoint", "one checkpoint with its operators",
             _checkpoint_details, checkpoint_views.SnapshotView),
    Endpoint("GET", "/jobs/:job/checkpoints/details/:checkpoint/subtasks/:vertex", "the share of each subtask",
             _checkpoint_subtasks, checkpoint_views.SavedSubtasks),
    Endpoint("GET", "/jobs/:job/checkpoints/:trigger", "what became of a checkpoint",
             _checkpoint_outcome, TriggerOutcome),
    Endpoint("GET", _VERTEX, "an operator with its subtasks",
             _about_vertex(lambda job, vertex: _AT.vertex(job, vertex, now_ms())), _AT.Vertex),
    Endpoint("GET", f"{_VERTEX}/accumulators", "what metrics of its functions say",
             _about_vertex(_AT.vertex_accumulators), _AT.VertexAccumulators),
    Endpoint("GET", f"{_VERTEX}/backpressure", "how much of its time it waits for those after it",
             _about_vertex(lambda job, vertex: _AT.back_pressure(job, vertex, now_ms())), _AT.BackPressure),
    Endpoint("GET", f"{_VERTEX}/flamegraph", "where its Python code spends its time", _flame_graph, FlameGraph,
             (Query("type", "on_cpu or full, which is the same here"),
              Query("subtaskindex", "only this subtask", int))),
    Endpoint("GET", f"{_VERTEX}/metrics", "metrics of all subtasks", _vertex_metrics, _METRICS, (metric_views.GET,)),
    Endpoint("GET", f"{_VERTEX}/subtasktimes", "since when subtasks run",
             _about_vertex(lambda job, vertex: _AT.subtask_times(job, vertex, now_ms())), _AT.SubtaskTimes),
    Endpoint("GET", f"{_VERTEX}/taskmanagers", "in which processes its subtasks are",
             _about_vertex(lambda job, vertex: _AT.task_managers(job, vertex, now_ms())), _AT.VertexTaskManagers),
    Endpoint("GET", f"{_VERTEX}/watermarks", "of its subtasks",
             _about_vertex(lambda job, vertex: _AT.watermarks(vertex)), list[_AT.Metric]),
    Endpoint("GET", f"{_VERTEX}/subtasks/metrics", "metrics put together over the subtasks", _subtasks_metrics,
             _AGGREGATED, (metric_views.GET, metric_views.AGG, _SUBTASKS)),
    Endpoint("GET", f"{_VERTEX}/subtasks/accumulators", "what metrics of its functions say, by subtask",
             _about_vertex(_AT.subtasks_accumulators), _AT.SubtasksAccumulators),
    Endpoint("GET", f"{_VERTEX}/subtasks/:subtask", "one subtask", _subtask, _AT.Subtask),
    Endpoint("GET", f"{_VERTEX}/subtasks/:subtask/metrics", "metrics of one subtask", _subtask_metrics, _METRICS,
             (metric_views.GET,)),
    Endpoint("GET", f"{_VERTEX}/subtasks/:subtask/attempts/:attempt", "one subtask in one attempt of the job",
             _subtask_attempt, _AT.Subtask),
    Endpoint("GET", f"{_VERTEX}/subtasks/:subtask/attempts/:attempt/accumulators", "what metrics of its functions say",
             _attempt_accumulators, _AT.AttemptAccumulators),
)  # fmt: skip
