"""The endpoints about all jobs, their workers, the process that answers, and programs to run."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypedDict

from penstock.common.errors import NotSupportedError
from penstock.rest import cluster_views, job_views, metric_views
from penstock.rest.cluster import Cluster, Programs, Submission
from penstock.rest.cluster_views import KeyValue, LogFiles
from penstock.rest.endpoint import Endpoint, Query, Reply, Request, bad_request, not_found
from penstock.rest.job_endpoints import Nothing


class Entry(TypedDict):
    name: str
    description: str | None


class UploadedProgram(TypedDict):
    id: str
    name: str
    uploaded: int
    entry: list[Entry]


class UploadedPrograms(TypedDict):
    address: str
    files: list[UploadedProgram]


class Upload(TypedDict):
    filename: str
    status: str


class RunRequest(TypedDict, total=False):
    entryClass: str | None
    programArg: str | None
    programArgsList: list[str] | None
    parallelism: int | None
    jobId: str | None
    allowNonRestoredState: bool | None
    savepointPath: str | None
    flinkConfiguration: dict[str, str] | None


class PlanRequest(TypedDict, total=False):
    entryClass: str | None
    programArg: str | None
    programArgsList: list[str] | None
    parallelism: int | None
    jobId: str | None
    flinkConfiguration: dict[str, str] | None


class Started(TypedDict):
    jobid: str


class ThreadInfo(TypedDict):
    threadName: str
    stringifiedThreadInfo: str


class ThreadDump(TypedDict):
    threadInfos: list[ThreadInfo]


_LARGEST_LOG = 16 << 20


def _config(cluster: Cluster, request: Request) -> Reply:
    return Reply(cluster_views.dashboard_config(cluster.programs is not None))


def _overview(cluster: Cluster, request: Request) -> Reply:
    return Reply(cluster_views.overview(cluster.jobs(), cluster.slots()))


def _jobs(cluster: Cluster, request: Request) -> Reply:
    return Reply(job_views.job_list(list(cluster.jobs())))


def _jobs_overview(cluster: Cluster, request: Request) -> Reply:
    return Reply({"jobs": [job_views.job_overview(job) for job in cluster.jobs()]})


def _jobs_metrics(cluster: Cluster, request: Request) -> Reply:
    wanted = request.query.get("jobs")
    chosen = [metric_views.job_metrics(job) for job in cluster.jobs() if not wanted or job.job_id in wanted]
    return Reply(metric_views.aggregated(chosen, request.query.get("get"), request.query.get("agg")))


def _task_managers(cluster: Cluster, request: Request) -> Reply:
    found = cluster_views.workers(cluster.jobs())
    return Reply({"taskmanagers": [cluster_views.task_manager(job, worker) for job, worker in found]})


def _find_worker(cluster: Cluster, request: Request) -> Any:
    for job, worker in cluster_views.workers(cluster.jobs()):
        if worker.id == request.path["worker"]:
            return job, worker
    raise not_found(f"there is no worker {request.path['worker']}")


def _task_manager(cluster: Cluster, request: Request) -> Reply:
    return Reply(cluster_views.task_manager(*_find_worker(cluster, request)))


def _task_manager_metrics(cluster: Cluster, request: Request) -> Reply:
    _, worker = _find_worker(cluster, request)
    return Reply(metric_views.selected(cluster_views.worker_metrics(worker), request.query.get("get")))


def _task_managers_metrics(cluster: Cluster, request: Request) -> Reply:
    wanted = request.query.get("taskmanagers")
    found = [worker for _, worker in cluster_views.workers(cluster.jobs()) if not wanted or worker.id in wanted]
    chosen = [cluster_views.worker_metrics(worker) for worker in found]
    return Reply(metric_views.aggregated(chosen, request.query.get("get"), request.query.get("agg")))


def _manager_config(cluster: Cluster, request: Request) -> Reply:
    return Reply(cluster_views.key_values(cluster.configuration()))


def _manager_metrics(cluster: Cluster, request: Request) -> Reply:
    return Reply(metric_views.selected(cluster_views.process_metrics(), request.query.get("get")))


def _thread_dump(cluster: Cluster, request: Request) -> Reply:
    import threading

    names = {thread.ident: thread.name for thread in threading.enumerate()}
    infos = [
        {"threadName": names.get(id_, str(id_)), "stringifiedThreadInfo": "".join(traceback.format_stack(frame))}
        for id_, frame in sys._current_frames().items()
    ]
    return Reply({"threadInfos": infos})


def _log(cluster: Cluster, request: Request) -> Reply:
    files = cluster.log_files()
    name = request.path.get("name") or next(iter(files), "")
    path = files.get(name)
    if path is None or not path.is_file():
        raise not_found(f"there is no log {name!r}; there are {', '.join(files) or 'none'}")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LARGEST_LOG))
        return Reply(file.read().decode(errors="replace"))


def programs_of(cluster: Cluster) -> Programs:
    if cluster.programs is None:
        raise NotSupportedError(
            "this is the interface of one job: start a manager (penstock cluster start) to submit programs"
        )
    return cluster.programs


def _programs(cluster: Cluster, request: Request) -> Reply:
    files = [
        {"id": p.id, "name": p.name, "uploaded": p.uploaded_at, "entry": [{"name": p.name, "description": None}]}
        for p in programs_of(cluster).all()
    ]
    return Reply({"address": "", "files": files})


def _upload(cluster: Cluster, request: Request) -> Reply:
    if request.file is None:
        raise bad_request("send the program as a file of a form (multipart/form-data)")
    program = programs_of(cluster).add(request.file.name, request.file.path)
    return Reply({"filename": program.id, "status": "success"})


def _run(cluster: Cluster, request: Request) -> Reply:
    submission = _submission(request.body)
    return Reply({"jobid": programs_of(cluster).run(request.path["program"], submission)})


def _plan(cluster: Cluster, request: Request) -> Reply:
    """Flink takes the same as a query and as a body."""
    names = {"entry-class": "entryClass", "programArg": "programArgsList", "parallelism": "parallelism"}
    fields = {names[name]: value for name, value in request.query.items()} or request.body
    return Reply(programs_of(cluster).plan(request.path["program"], _submission(fields)))


def _submission(body: Mapping[str, Any]) -> Submission:
    if body.get("programArg"):
        raise bad_request("give the arguments as a list: programArgsList")
    return Submission(
        script=body.get("entryClass"),
        arguments=tuple(body.get("programArgsList") or ()),
        parallelism=body.get("parallelism"),
        savepoint=body.get("savepointPath"),
        allow_non_restored_state=bool(body.get("allowNonRestoredState")),
        job_id=body.get("jobId"),
        configuration=body.get("flinkConfiguration") or {},
    )


def _remove(cluster: Cluster, request: Request) -> Reply:
    if not programs_of(cluster).remove(request.path["program"]):
        raise not_found(f"no program was uploaded under the id {request.path['program']}")
    return Reply({})


def _shut_down(cluster: Cluster, request: Request) -> Reply:
    cluster.shut_down()
    return Reply({}, HTTPStatus.ACCEPTED)


_METRICS = list[metric_views.MetricValue]

CLUSTER_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/config", "what the web page needs to know", _config, cluster_views.DashboardConfig),
    Endpoint("GET", "/overview", "how many jobs are in which state", _overview, cluster_views.Overview),
    Endpoint("GET", "/jobs", "ids and states", _jobs, job_views.Jobs),
    Endpoint("GET", "/jobs/overview", "all jobs at a glance", _jobs_overview, job_views.JobsOverview),
    Endpoint("GET", "/jobs/metrics", "metrics put together over jobs", _jobs_metrics,
             list[metric_views.AggregatedMetric],
             (metric_views.GET, metric_views.AGG, Query("jobs", "ids of the jobs that count", many=True))),
    Endpoint("GET", "/taskmanagers", "the processes that run subtasks", _task_managers, cluster_views.TaskManagers),
    Endpoint("GET", "/taskmanagers/metrics", "metrics put together over them", _task_managers_metrics,
             list[metric_views.AggregatedMetric],
             (metric_views.GET, metric_views.AGG, Query("taskmanagers", "ids of those that count", many=True))),
    Endpoint("GET", "/taskmanagers/:worker", "one of them", _task_manager, cluster_views.TaskManager),
    Endpoint("GET", "/taskmanagers/:worker/metrics", "its metrics", _task_manager_metrics, _METRICS,
             (metric_views.GET,)),
    Endpoint("GET", "/jobmanager/config", "the options of the process that answers", _manager_config, list[KeyValue]),
    Endpoint("GET", "/jobmanager/environment", "its Python",
             lambda cluster, request: Reply(cluster_views.environment()), cluster_views.Environment),
    Endpoint("GET", "/jobmanager/metrics", "its metrics, and those of its machine", _manager_metrics, _METRICS,
             (metric_views.GET,)),
    Endpoint("GET", "/jobmanager/thread-dump", "what its threads do", _thread_dump, ThreadDump),
    Endpoint("GET", "/jobmanager/logs", "its log files",
             lambda cluster, request: Reply(cluster_views.log_files(cluster.log_files())), LogFiles),
    Endpoint("GET", "/jobmanager/logs/:name", "one of them", _log, str, text=True),
    Endpoint("GET", "/jobmanager/log", "its log", _log, str, text=True),
    Endpoint("GET", "/jars", "programs that were uploaded", _programs, UploadedPrograms),
    Endpoint("POST", "/jars/upload", "upload a script, or a zip with modules", _upload, Upload, upload=True),
    Endpoint("POST", "/jars/:program/run", "run a program", _run, Started, body=RunRequest),
    Endpoint("GET", "/jars/:program/plan", "its graph, without running it", _plan, job_views.JobPlan,
             (Query("entry-class", "the program's file inside of an archive"),
              Query("programArg", "arguments of the program", many=True), Query("parallelism", "default", int))),
    Endpoint("POST", "/jars/:program/plan", "the same", _plan, job_views.JobPlan, body=PlanRequest),
    Endpoint("DELETE", "/jars/:program", "remove a program", _remove, Nothing),
    Endpoint("DELETE", "/cluster", "end the process that answers; a manager leaves its jobs running", _shut_down,
             Nothing),
)  # fmt: skip
