"""All endpoints of a running job: what each is for, and what answers it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from penstock import __version__
from penstock.common.errors import PenstockError
from penstock.control.job_control import JobControl
from penstock.rest import job_views
from penstock.rest.attempt_views import exception_history
from penstock.rest.checkpoint_views import checkpoint_statistics
from penstock.rest.exchange import Reply, Request, RestError, read_fields
from penstock.rest.triggers import Triggers


@dataclass(frozen=True)
class JobService:
    """What handlers work on."""

    job_id: str
    control: JobControl
    triggers: Triggers


Handler = Callable[[JobService, Request], Reply]


@dataclass(frozen=True)
class Endpoint:
    """`:name` in the path stands for one part of it."""

    method: str
    path: str
    description: str
    handle: Handler

    def match(self, path: str) -> dict[str, str] | None:
        found = re.fullmatch(re.sub(r":(\w+)", r"(?P<\1>[^/]+)", self.path), path)
        return None if found is None else found.groupdict()


def overview(service: JobService, request: Request) -> Reply:
    return Reply(job_views.cluster_overview(service.control.describe(), __version__))


def list_jobs(service: JobService, request: Request) -> Reply:
    return Reply(job_views.job_list(service.control.describe()))


def show_job(service: JobService, request: Request) -> Reply:
    return Reply(job_views.job_details(service.control.describe(), time.time_ns() // 1_000_000))


def show_exceptions(service: JobService, request: Request) -> Reply:
    return Reply(exception_history(service.control.describe().attempts))


def show_checkpoints(service: JobService, request: Request) -> Reply:
    return Reply(checkpoint_statistics(service.control.describe().snapshots))


def trigger_savepoint(service: JobService, request: Request) -> Reply:
    types = {"target-directory": str, "cancel-job": bool, "formatType": str, "triggerId": str}
    fields = read_fields(request.body, types)
    directory = fields["target-directory"]
    if fields["cancel-job"]:
        # Not a savepoint and then a cancel: what happens between the two would happen again after a restore.
        return _trigger(service, fields, lambda: service.control.stop(directory, drain=False))
    return _trigger(service, fields, lambda: service.control.savepoint(directory))


def trigger_checkpoint(service: JobService, request: Request) -> Reply:
    fields = read_fields(request.body, {"formatType": str, "triggerId": str})
    return _trigger(service, fields, service.control.checkpoint)


def stop_with_savepoint(service: JobService, request: Request) -> Reply:
    types = {"targetDirectory": str, "drain": bool, "formatType": str, "triggerId": str}
    fields = read_fields(request.body, types)
    drain = bool(fields["drain"])
    return _trigger(service, fields, lambda: service.control.stop(fields["targetDirectory"], drain))


def show_savepoint(service: JobService, request: Request) -> Reply:
    outcome = service.triggers.outcome(request.path["trigger"])
    if outcome is None:
        raise RestError(HTTPStatus.NOT_FOUND, f"no operation was triggered under the id {request.path['trigger']}")
    return outcome


def end_job(service: JobService, request: Request) -> Reply:
    mode = request.query.get("mode", "cancel")
    if mode != "cancel":
        raise RestError(HTTPStatus.BAD_REQUEST, f"the mode {mode!r} is not known; POST to .../stop, or use mode=cancel")
    # On a thread of its own: it returns when the job has ended, and the job ends after this server has.
    threading.Thread(target=service.control.cancel, name="penstock-rest-cancel", daemon=True).start()
    return Reply({}, HTTPStatus.ACCEPTED)


ENDPOINTS = (
    Endpoint("GET", "/overview", "how many jobs are in which state", overview),
    Endpoint("GET", "/jobs", "ids and states", list_jobs),
    Endpoint("GET", "/jobs/:job", "state, times, operators and numbers of the job", show_job),
    Endpoint("GET", "/jobs/:job/exceptions", "why attempts of the job have ended", show_exceptions),
    Endpoint("GET", "/jobs/:job/checkpoints", "checkpoints and savepoints that were taken", show_checkpoints),
    Endpoint("POST", "/jobs/:job/checkpoints", "take a checkpoint now", trigger_checkpoint),
    Endpoint("POST", "/jobs/:job/savepoints", "take a savepoint, and cancel if asked for", trigger_savepoint),
    Endpoint("GET", "/jobs/:job/savepoints/:trigger", "what became of a savepoint or stop", show_savepoint),
    Endpoint("POST", "/jobs/:job/stop", "take a savepoint and stop, draining if asked for", stop_with_savepoint),
    Endpoint("PATCH", "/jobs/:job", "cancel at once (mode=cancel)", end_job),
)


def answer(service: JobService, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any]) -> Reply:
    """Finds the endpoint and asks it; every error becomes a reply."""
    try:
        endpoint, parts = _find(method, path)
        if parts.get("job", service.job_id) != service.job_id:
            raise RestError(HTTPStatus.NOT_FOUND, f"Job {parts['job']} not found")
        return endpoint.handle(service, Request(parts, query, body))
    except RestError as error:
        return error.reply
    except PenstockError as error:
        return RestError(HTTPStatus.BAD_REQUEST, str(error)).reply
    except Exception as error:
        return RestError(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}").reply


def _find(method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
    matching = [(endpoint, parts) for endpoint in ENDPOINTS if (parts := endpoint.match(path)) is not None]
    if not matching:
        raise RestError(HTTPStatus.NOT_FOUND, f"Not found: {path}")
    for endpoint, parts in matching:
        if endpoint.method == method:
            return endpoint, parts
    allowed = ", ".join(endpoint.method for endpoint, _ in matching)
    raise RestError(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {allowed}, not {method}")


def _trigger(service: JobService, fields: Mapping[str, Any], operation: Callable[[], Future[str]]) -> Reply:
    if fields["formatType"] not in (None, "CANONICAL"):
        raise RestError(
            HTTPStatus.BAD_REQUEST, f"savepoints are written as CANONICAL only, not as {fields['formatType']}"
        )
    trigger_id = service.triggers.start(operation, fields["triggerId"])
    return Reply({"request-id": trigger_id}, HTTPStatus.ACCEPTED)
