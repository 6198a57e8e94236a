"""The REST interface of a job as an HTTP client meets it."""

from __future__ import annotations

import http.client
import json
import re
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.certificates import own_certificate
from tests.patience import patience
from tests.unit.rest.fake_job import JOB_ID, FakeJob

from penstock.client import Connection, JobClient
from penstock.client.access import RestAccess, read_access, write_access
from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.common.run_options import RunOptions
from penstock.control.job_home import JobHome
from penstock.rest.api import ENDPOINTS
from penstock.rest.job_server import JobServer as Server
from penstock.rest.job_server import serve_job

Answer = tuple[int, dict[str, Any]]


@pytest.fixture
def job() -> FakeJob:
    return FakeJob()


@pytest.fixture
def home(tmp_path: Path) -> JobHome:
    home = JobHome(tmp_path, JOB_ID)
    home.path.mkdir(parents=True)
    return home


@pytest.fixture
def server(job: FakeJob, home: JobHome) -> Iterator[Server]:
    server = serve_job(job, home)
    yield server
    server.close(grace_seconds=0)


def port(server: Server) -> int:
    return int(server.access.url.rsplit(":", 1)[1])


def ask(server: Server, method: str, path: str, body: Any = None, token: str | None = None) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=patience(10))
    content = body if isinstance(body, bytes) or body is None else json.dumps(body)
    connection.request(method, path, content, {"Authorization": f"Bearer {token or server.access.token}"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def test_access_is_only_for_the_owner(server: Server, home: JobHome) -> None:
    assert stat.S_IMODE((home.path / "rest.json").stat().st_mode) == 0o600
    assert read_access(home.path) == server.access


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_no_endpoint_works_without_the_token(server: Server, job: FakeJob, endpoint: Any) -> None:
    path = re.sub(r":\w+", "x", endpoint.path.replace(":job", JOB_ID))
    status, answer = ask(server, endpoint.method, path, token="guessed")
    assert (status, list(answer), job.asked) == (401, ["errors"], [])


def test_a_job_with_a_page_speaks_tls_if_it_is_told_to(
    job: FakeJob, home: JobHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("penstock.rest.job_server.current_run_options", lambda: RunOptions(web_page=True))
    job.configuration = {**own_certificate(tmp_path), "rest.port": "0"}
    server = serve_job(job, home)
    access = read_access(home.path)
    assert access is not None and access.url.startswith("https://") and access.page in capsys.readouterr().err
    assert JobClient(Connection.of(access), JOB_ID).status() == "RUNNING"
    server.close(grace_seconds=0)
    job.configuration["penstock.rest.key"] = str(tmp_path / "nothing.pem")
    with pytest.raises(ConfigurationError, match="are no certificate and its key"):
        serve_job(job, home)


def test_a_request_without_any_header_is_refused(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", port(server))) as connection:
        connection.sendall(b"GET /jobs HTTP/1.0\r\n\r\n")
        assert b" 401 " in connection.makefile("rb").readline()


def test_listens_on_the_loopback_interface_only(server: Server) -> None:
    assert server.access.url.startswith("http://127.0.0.1:")


def test_jobs_and_overview(server: Server) -> None:
    assert ask(server, "GET", "/jobs") == (200, {"jobs": [{"id": JOB_ID, "status": "RUNNING"}]})
    status, answer = ask(server, "GET", "/overview")
    counts = {name: answer[name] for name in ("jobs-running", "jobs-finished", "jobs-cancelled", "jobs-failed")}
    assert status == 200
    assert list(counts.values()) == [1, 0, 0, 0]


def test_details_have_flinks_names(server: Server) -> None:
    status, answer = ask(server, "GET", f"/jobs/{JOB_ID}")
    assert status == 200
    assert (answer["jid"], answer["name"], answer["state"]) == (JOB_ID, "page views", "RUNNING")
    assert (answer["start-time"], answer["end-time"], answer["duration"]) == (1_700_000_000_000, -1, 65_000)
    [vertex] = answer["vertices"]
    assert (vertex["id"], vertex["name"], vertex["parallelism"]) == ("u1", "Count", 2)
    assert vertex["metrics"]["read-records"] == 1000
    assert answer["penstock"]["epoch"] == 12


def test_an_ended_job_has_an_end_time(server: Server, job: FakeJob) -> None:
    job.state = JobStatus.FINISHED
    assert ask(server, "GET", f"/jobs/{JOB_ID}")[1]["end-time"] == 1_700_000_065_000


def test_checkpoints_show_savepoints_newest_first(server: Server, job: FakeJob) -> None:
    job.add_savepoint(3, "/s/3", 100)
    job.add_savepoint(7, "/s/7", 100)
    answer = ask(server, "GET", f"/jobs/{JOB_ID}/checkpoints")[1]
    assert [each["external_path"] for each in answer["history"]] == ["/s/7", "/s/3"]
    assert answer["latest"]["savepoint"]["id"] == 7
    assert answer["counts"]["completed"] == 2
    assert all(each["is_savepoint"] and each["status"] == "COMPLETED" for each in answer["history"])


def test_savepoint_from_trigger_to_location(server: Server, job: FakeJob) -> None:
    status, answer = ask(server, "POST", f"/jobs/{JOB_ID}/savepoints", {"target-directory": "/s"})
    assert (status, job.asked) == (202, [("savepoint", "/s")])
    outcome = f"/jobs/{JOB_ID}/savepoints/{answer['request-id']}"
    assert ask(server, "GET", outcome) == (200, {"status": {"id": "IN_PROGRESS"}})
    job.future.set_result("/s/savepoint-012345-x")
    expected = {"status": {"id": "COMPLETED"}, "operation": {"location": "/s/savepoint-012345-x"}}
    assert ask(server, "GET", outcome) == (200, expected)


def test_a_checkpoint_is_named_by_its_number_as_in_flink(server: Server, job: FakeJob) -> None:
    trigger = ask(server, "POST", f"/jobs/{JOB_ID}/checkpoints", {})[1]["request-id"]
    job.add_savepoint(7, "/c/chk-7", 100)
    job.future.set_result("/c/chk-7")
    outcome = ask(server, "GET", f"/jobs/{JOB_ID}/checkpoints/{trigger}")[1]
    assert outcome == {"status": {"id": "COMPLETED"}, "operation": {"location": "/c/chk-7", "checkpointId": 7}}


def test_failed_savepoint_says_why(server: Server, job: FakeJob) -> None:
    trigger = ask(server, "POST", f"/jobs/{JOB_ID}/savepoints", {})[1]["request-id"]
    job.future.set_exception(JobExecutionError("the disk is full"))
    operation = ask(server, "GET", f"/jobs/{JOB_ID}/savepoints/{trigger}")[1]["operation"]
    assert operation == {"failure-cause": {"class": "JobExecutionError", "stack-trace": "the disk is full"}}


def test_savepoint_with_cancel_lets_nothing_happen_in_between(server: Server, job: FakeJob) -> None:
    ask(server, "POST", f"/jobs/{JOB_ID}/savepoints", {"target-directory": "/s", "cancel-job": True})
    assert job.asked == [("stop", "/s", False)]


def test_stop_with_drain(server: Server, job: FakeJob) -> None:
    status, answer = ask(server, "POST", f"/jobs/{JOB_ID}/stop", {"targetDirectory": None, "drain": True})
    assert (status, job.asked) == (202, [("stop", None, True)])
    job.future.set_result("/s/1")
    outcome = ask(server, "GET", f"/jobs/{JOB_ID}/savepoints/{answer['request-id']}")[1]
    assert outcome["operation"] == {"location": "/s/1"}


def test_a_repeated_request_with_the_same_trigger_id_starts_one_savepoint(server: Server, job: FakeJob) -> None:
    for _ in range(2):
        answer = ask(server, "POST", f"/jobs/{JOB_ID}/savepoints", {"triggerId": "mine"})
        assert answer == (202, {"request-id": "mine"})
    assert job.asked == [("savepoint", None)]


def test_cancel_is_accepted_and_done(server: Server, job: FakeJob) -> None:
    assert ask(server, "PATCH", f"/jobs/{JOB_ID}?mode=cancel") == (202, {})
    assert job.cancelled.wait(patience(10))


def test_cancel_that_closes_the_server_itself_does_not_lock_up(
    server: Server, job: FakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = threading.Event()

    def cancel() -> None:
        server.close()
        closed.set()

    monkeypatch.setattr(job, "cancel", cancel)
    assert ask(server, "PATCH", f"/jobs/{JOB_ID}?mode=cancel") == (202, {})
    assert closed.wait(patience(10))


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "complaint"),
    [
        ("GET", "/jobs?colour=red", None, 400, "'colour' is not known"),
        ("GET", f"/jobs/{JOB_ID}/exceptions?maxExceptions=many", None, 400, "whole number"),
        ("GET", f"/penstock/v1/jobs/{JOB_ID}/log?from=-1", None, 400, "whole number from 0 on"),
        ("GET", f"/jobs/{JOB_ID}/vertices/none", None, 404, "no operator with the uid none"),
        ("GET", f"/jobs/{JOB_ID}/vertices/u1/subtasks/9", None, 404, "subtasks 0 to 1, not 9"),
        ("GET", f"/jobs/{JOB_ID}/vertices/u1/subtasks/metrics?get=a&agg=median", None, 400, "'median'"),
        ("GET", f"/jobs/{JOB_ID}/checkpoints/details/77", None, 404, "no checkpoint 77"),
        ("GET", "/jars", None, 400, "penstock cluster start"),
        ("PATCH", f"/jobs/{JOB_ID}/rescaling", None, 400, "?parallelism=N"),
        ("GET", "/jobs/ffff", None, 404, "Job ffff not found"),
        ("PATCH", "/jobs/ffff", None, 404, "Job ffff not found"),
        ("GET", "/nothing", None, 404, "Not found: /nothing"),
        ("GET", f"/jobs/{JOB_ID}/savepoints/none", None, 404, "none"),
        ("DELETE", f"/jobs/{JOB_ID}", None, 405, "GET, PATCH"),
        ("PATCH", f"/jobs/{JOB_ID}?mode=pause", None, 400, "'pause'"),
        ("POST", f"/jobs/{JOB_ID}/savepoints", {"target_directory": "/s"}, 400, "target-directory"),
        ("POST", f"/jobs/{JOB_ID}/savepoints", {"cancel-job": "yes"}, 400, "'cancel-job' must be a boolean"),
        ("POST", f"/jobs/{JOB_ID}/savepoints", {"formatType": "NATIVE"}, 400, "NATIVE"),
        ("POST", f"/jobs/{JOB_ID}/savepoints", b"{", 400, "not JSON"),
        ("POST", f"/jobs/{JOB_ID}/savepoints", [1], 400, "JSON object"),
    ],
)
def test_refusals(server: Server, job: FakeJob, method: str, path: str, body: Any, status: int, complaint: str) -> None:
    answered, answer = ask(server, method, path, body)
    assert (answered, job.asked) == (status, [])
    assert complaint in answer["errors"][0]


def test_what_the_job_refuses_is_the_clients_mistake(server: Server, job: FakeJob) -> None:
    job.refusal = JobExecutionError("no directory: set state.savepoints.dir")
    answer = ask(server, "POST", f"/jobs/{JOB_ID}/savepoints", {})
    assert answer == (400, {"errors": ["no directory: set state.savepoints.dir"]})


def test_what_breaks_inside_is_reported(server: Server, job: FakeJob) -> None:
    job.refusal = RuntimeError("broken")
    answer = ask(server, "POST", f"/jobs/{JOB_ID}/savepoints", {})
    assert answer == (500, {"errors": ["RuntimeError: broken"]})


def test_a_huge_body_is_refused_unread(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", port(server))) as connection:
        token = server.access.token
        head = f"POST /jobs/{JOB_ID}/stop HTTP/1.0\r\nAuthorization: Bearer {token}\r\nContent-Length: 99999999\r\n\r\n"
        connection.sendall(head.encode())
        assert b" 413 " in connection.makefile("rb").readline()


def test_a_silent_client_does_not_keep_others_waiting(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", port(server))):
        assert ask(server, "GET", "/jobs")[0] == 200


def test_close_takes_port_and_file_away(server: Server, home: JobHome) -> None:
    server.close()
    assert read_access(home.path) is None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port(server)))
    server.close()


def test_close_leaves_the_file_of_a_successor(server: Server, home: JobHome) -> None:
    successor = RestAccess("http://127.0.0.1:1", "other", 1)
    write_access(home.path, successor)
    server.close()
    assert read_access(home.path) == successor


def test_close_after_the_directory_is_gone(server: Server, home: JobHome) -> None:
    home.remove()
    server.close()


def test_close_waits_until_the_outcome_of_a_stop_is_fetched(server: Server, job: FakeJob) -> None:
    trigger = ask(server, "POST", f"/jobs/{JOB_ID}/stop", {})[1]["request-id"]
    job.future.set_result("/s/1")
    closing = threading.Thread(target=server.close, args=(60,))
    closing.start()
    assert ask(server, "GET", f"/jobs/{JOB_ID}/savepoints/{trigger}")[1]["operation"] == {"location": "/s/1"}
    closing.join(patience(10))
    assert not closing.is_alive()


def test_close_does_not_wait_for_what_will_not_end(server: Server, job: FakeJob) -> None:
    ask(server, "POST", f"/jobs/{JOB_ID}/savepoints", {})
    closing = threading.Thread(target=server.close, args=(60,))
    closing.start()
    closing.join(patience(10))
    assert not closing.is_alive()


def test_says_nothing_on_the_jobs_terminal(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    ask(server, "GET", "/jobs")
    ask(server, "GET", "/nothing")
    with socket.create_connection(("127.0.0.1", port(server))) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        connection.makefile("rb").read()
    assert capfd.readouterr() == ("", "")


def test_paths_may_begin_with_the_version(server: Server) -> None:
    assert ask(server, "GET", "/v1/jobs") == ask(server, "GET", "/jobs")


def test_a_browser_gets_the_page_without_a_token_and_nothing_else(server: Server) -> None:
    def fetch(path: str, accept: str) -> tuple[int, str, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=patience(10))
        connection.request("GET", path, headers={"Accept": accept})
        response = connection.getresponse()
        answer = response.status, response.headers.get("Content-Type", ""), response.read()
        connection.close()
        return answer

    status, kind, content = fetch("/job/some-place", "text/html")
    assert (status, kind.partition(";")[0]) == (200, "text/html") and b"<html" in content
    assert fetch("/../../access.py", "*/*")[0] == 401
    assert fetch("/jobs", "text/html")[0] == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://elsewhere"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://the-proxy"}, 200),
        ({"Origin": "https://the-proxy", "X-Forwarded-Host": "the-proxy"}, 200),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({}, 200),
    ],
)
def test_pages_of_other_hosts_may_not_ask_even_with_the_token(
    server: Server, headers: dict[str, str], status: int
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port(server), timeout=patience(10))
    sent = {name: value.format(port=port(server)) for name, value in headers.items()}
    connection.request("GET", "/jobs", headers={"Authorization": f"Bearer {server.access.token}", **sent})
    response = connection.getresponse()
    response.read()
    connection.close()
    assert response.status == status
    assert response.headers.get("Access-Control-Allow-Origin") is None
    assert (response.headers["Cache-Control"], response.headers["X-Frame-Options"]) == ("no-store", "DENY")
