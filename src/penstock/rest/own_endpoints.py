"""What Flink's interface has no place for: epochs, the cause of back pressure, skew, logs, submitting, live events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypedDict

from penstock.common.job_status import JobStatus
from penstock.common.json_data import from_json, to_json
from penstock.control.epoch_history import PHASES
from penstock.control.job_control import JobDescription
from penstock.rest import job_views, pressure, state_views
from penstock.rest.cluster import Cluster, Submission
from penstock.rest.cluster_endpoints import Started, programs_of
from penstock.rest.endpoint import Endpoint, Events, Query, Reply, Request, bad_request
from penstock.rest.job_endpoints import control_of, job_of
from penstock.rest.skew import Skew, skew
from penstock.runtime.state_questions import StateQuestion

PREFIX = "/penstock/v1"
_EVENT_SECONDS = 1.0
_PING_SECONDS = 10.0
_TAIL_BYTES = 64 << 10
_STATE_SECONDS = 60.0

Epoch = TypedDict(
    "Epoch",
    {
        "number": int,
        "completed-at": int,
        "duration": float,
        "records": int,
        "bytes": int,
        "phases": dict[str, float],
    },
)


class Epochs(TypedDict):
    epochs: list[Epoch]


class LogTail(TypedDict):
    text: str
    offset: int


SubmitForm = TypedDict(
    "SubmitForm",
    {
        "entry": str,
        "path": str,
        "working-directory": str,
        "args": str,
        "program": str,
        "parallelism": str,
        "savepoint": str,
        "allow-non-restored-state": str,
        "name": str,
        "pyflink": str,
        "configuration": str,
        "job-id": str,
    },
    total=False,
)


class AskedState(TypedDict, total=False):
    uid: str | None
    state: str | None
    key: str | None
    limit: int


def _epochs(cluster: Cluster, request: Request) -> Reply:
    last = request.query.get("last") or 100
    found = job_of(cluster, request).epochs[-last:]
    return Reply(
        {
            "epochs": [
                {
                    "number": epoch.number,
                    "completed-at": epoch.completed_at,
                    "duration": round(epoch.duration, 3),
                    "records": epoch.records,
                    "bytes": epoch.changed_bytes,
                    "phases": {phase: round(getattr(epoch, phase), 3) for phase in PHASES},
                }
                for epoch in found
            ]
        }
    )


def _log(cluster: Cluster, request: Request) -> Reply:
    """The files of a job as one text, so that a reader has one offset to remember."""
    files = cluster.job_log_files(request.path["job"])
    job_of(cluster, request)
    sizes = [(path, path.stat().st_size) for path in files if path.is_file()]
    total = sum(size for _, size in sizes)
    since = request.query.get("from")
    start = max(0, total - (request.query.get("tail") or _TAIL_BYTES)) if since is None else min(since, total)
    return Reply({"text": _read(sizes, start).decode(errors="replace"), "offset": total})


def _read(sizes: list[tuple[Path, int]], start: int) -> bytes:
    parts = []
    for path, size in sizes:
        if start < size:
            with path.open("rb") as file:
                file.seek(start)
                parts.append(file.read(size - start))
        start = max(0, start - size)
    return b"".join(parts)


def _submit(cluster: Cluster, request: Request) -> Reply:
    programs, fields = programs_of(cluster), request.body
    arguments, configuration = _json(fields, "args", []), _json(fields, "configuration", {})
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        raise bad_request("the field 'args' is a JSON list of strings")
    if not isinstance(configuration, dict):
        raise bad_request("the field 'configuration' is a JSON object")
    parallelism = fields.get("parallelism") or None
    if parallelism is not None and not (parallelism.isdecimal() and int(parallelism) > 0):
        raise bad_request("the field 'parallelism' is a whole number of at least 1")
    submission = Submission(
        script=fields.get("entry") or None,
        arguments=tuple(arguments),
        parallelism=None if parallelism is None else int(parallelism),
        savepoint=fields.get("savepoint") or None,
        allow_non_restored_state=fields.get("allow-non-restored-state") == "true",
        name=fields.get("name") or None,
        pyflink=fields.get("pyflink") == "true",
        configuration={str(key): str(value) for key, value in configuration.items()},
        job_id=fields.get("job-id") or None,
    )
    if fields.get("path"):
        script = Path(fields["path"])
        directory = Path(fields.get("working-directory") or script.parent)
        return Reply({"jobid": programs.run_script(script, directory, submission)}, HTTPStatus.ACCEPTED)
    if fields.get("program"):
        return Reply({"jobid": programs.run(fields["program"], submission)}, HTTPStatus.ACCEPTED)
    if request.file is None:
        raise bad_request(
            "send the program as a file of a form, its path on the manager's machine as 'path', "
            "or the id of one that was uploaded as 'program'"
        )
    program = programs.add(request.file.name, request.file.path)
    return Reply({"jobid": programs.run(program.id, submission)}, HTTPStatus.ACCEPTED)


def _json(fields: Any, name: str, default: Any) -> Any:
    try:
        return json.loads(fields[name]) if fields.get(name) else default
    except ValueError as error:
        raise bad_request(f"the field {name!r} is not JSON: {error}") from None


def _events(cluster: Cluster, request: Request) -> Events:
    return Events(_overviews(cluster))


async def _overviews(cluster: Cluster) -> AsyncIterator[tuple[str, Any]]:
    """At once, and whenever something has changed; a ping shows that silence is no loss."""
    told, told_at = None, 0.0
    while True:
        jobs = await asyncio.to_thread(lambda: [job_views.job_overview(job) for job in cluster.jobs()])
        if jobs != told:
            told, told_at = jobs, time.monotonic()
            yield "jobs", {"jobs": jobs}
        elif time.monotonic() - told_at >= _PING_SECONDS:
            told_at = time.monotonic()
            yield "ping", {}
        await asyncio.sleep(_EVENT_SECONDS)


def _states(cluster: Cluster, request: Request) -> Reply:
    control = control_of(cluster, request)
    job = control.describe()
    if _live(job, request):
        return Reply(state_views.live_states(control))
    return Reply(state_views.states(*state_views.snapshot_to_read(job)))


def _state(cluster: Cluster, request: Request) -> Reply:
    uid, state, query = request.path["uid"], request.path["state"], request.query
    key, limit, control = query.get("key"), query.get("limit"), control_of(cluster, request)
    job = control.describe()
    if _live(job, request):
        return Reply(state_views.live_entries(control, uid, state, key, limit))
    path, epoch = state_views.snapshot_to_read(job)
    return Reply(state_views.entries(path, epoch, uid, state, key, limit))


def _live(job: JobDescription, request: Request) -> bool:
    source = request.query.get("from") or "epoch"
    if source not in ("epoch", "checkpoint"):
        raise bad_request(f"'from' is epoch or checkpoint, not {source!r}")
    return source == "epoch" and job.state is JobStatus.RUNNING


def _answer(cluster: Cluster, request: Request) -> Reply:
    question = from_json(StateQuestion, dict(request.body))
    return Reply(to_json(control_of(cluster, request).look_at_state(question).result(_STATE_SECONDS)))


def _savepoint(cluster: Cluster, request: Request) -> Reply:
    path, uid, state = (request.query.get(name) for name in ("path", "uid", "state"))
    if not path:
        raise bad_request("give the directory of the savepoint: ?path=DIR")
    if not uid or not state:
        return Reply(state_views.states(path, None))
    return Reply(state_views.entries(path, None, uid, state, request.query.get("key"), request.query.get("limit")))


def _description(cluster: Cluster, request: Request) -> Reply:
    return Reply(to_json(job_of(cluster, request)))


_JOB = f"{PREFIX}/jobs/:job"
_KEY = Query("key", "as JSON, or as Python writes it")
_LIMIT = Query("limit", "at most so many entries; 1000 if nothing is said", int)
_FROM = Query("from", "epoch: as it is after the epoch that ends next (usual); checkpoint: as of the newest snapshot")

OWN_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", f"{_JOB}/epochs", "the newest epochs and where their time went", _epochs, Epochs,
             (Query("last", "how many; 100 if nothing is said", int),)),
    Endpoint("GET", f"{_JOB}/backpressure", "who waits for whom",
             lambda cluster, request: Reply(pressure.overview(job_of(cluster, request))), pressure.PressureOverview),
    Endpoint("GET", f"{_JOB}/skew", "how evenly keyed operators are loaded, hot keys, and advice",
             lambda cluster, request: Reply(skew(job_of(cluster, request))), Skew),
    Endpoint("GET", f"{_JOB}/log", "what the driver and the program have printed and logged", _log, LogTail,
             (Query("tail", "the last bytes, so many; 65536 if nothing is said", int),
              Query("from", "what came after this offset", int))),
    Endpoint("GET", f"{_JOB}/state", "the states of the job", _states,
             state_views.States, (_FROM,)),
    Endpoint("GET", f"{_JOB}/state/:uid/:state", "the entries of a state, or those of one key", _state,
             state_views.StateEntries, (_KEY, _LIMIT, _FROM)),
    Endpoint("GET", f"{PREFIX}/savepoints", "the states of a savepoint, or the entries of one of them", _savepoint,
             dict[str, Any],
             (Query("path", "its directory"), Query("uid", "of the operator"), Query("state", "its name"), _KEY,
              _LIMIT)),
    Endpoint("GET", f"{_JOB}/description", "everything that is known about the job, as the manager asks for it",
             _description, dict[str, Any]),
    Endpoint("POST", f"{_JOB}/state", "asks about state, as the manager does", _answer, dict[str, Any],
             body=AskedState),
    Endpoint("POST", f"{PREFIX}/jobs", "upload a program and run it", _submit, Started, body=SubmitForm, upload=True),
    Endpoint("GET", f"{PREFIX}/events", "server-sent events: the overview of all jobs whenever it changes", _events,
             job_views.JobsOverview),
)  # fmt: skip
