"""Every answer has the shape that the endpoint declares, and so the OpenAPI document tells the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.rest.fake_job import JOB_ID, FakeJob

from penstock.control.job_home import JobHome
from penstock.rest.api import ENDPOINTS, openapi
from penstock.rest.endpoint import Endpoint, Reply, Request
from penstock.rest.job_server import OneJob
from penstock.rest.json_types import mistakes
from penstock.rest.triggers import Triggers

_PARTS = {
    "job": JOB_ID,
    "vertex": "u1",
    "subtask": "0",
    "checkpoint": "3",
    "worker": "a:7",
    "name": "spark.log",
    "attempt": "0",
    "uid": "u1",
    "state": "count",
}
_ELSEWHERE = ("events", "/jars", ":program/plan", "/log", "/savepoints")  # need more than a job without an engine
_ANSWERING = [
    e for e in ENDPOINTS if e.method == "GET" and ":trigger" not in e.path and not e.path.endswith(_ELSEWHERE)
]


@pytest.fixture
def cluster(tmp_path: Path) -> OneJob:
    job = FakeJob()
    job.add_savepoint(3, "/s/3", 100)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "spark.log").write_text("started")
    return OneJob(job, JobHome(tmp_path, JOB_ID), Triggers())


@pytest.mark.parametrize("endpoint", _ANSWERING, ids=lambda endpoint: endpoint.path)
def test_answers_have_their_declared_shape(cluster: OneJob, endpoint: Endpoint) -> None:
    queries: list[dict[str, Any]] = [{}]
    if any(query.name == "get" for query in endpoint.query):
        queries.append({"get": ["numRecordsIn", "0.numRecordsIn", "uptime", "none"]})
    for query in queries:
        reply = endpoint.handle(cluster, Request(_PARTS, query))
        assert isinstance(reply, Reply)
        assert list(mistakes(reply.body, endpoint.answer, "answer")) == []


def test_every_reference_of_the_document_leads_somewhere() -> None:
    document = openapi()
    schemas = document["components"]["schemas"]

    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"].rsplit("/", 1)[1]} if "$ref" in value else set()
            return own.union(*(references(each) for each in value.values()))
        return set().union(*(references(each) for each in value)) if isinstance(value, list) else set()

    assert references(document) <= schemas.keys()
    assert len(document["paths"]) > 50


def test_metrics_with_selection_and_aggregation(cluster: OneJob) -> None:
    def ask(path: str, **query: list[str]) -> Any:
        endpoint = next(e for e in ENDPOINTS if e.method == "GET" and e.path == path)
        reply = endpoint.handle(cluster, Request(_PARTS, query))
        assert isinstance(reply, Reply)
        return reply.body

    vertex = "/jobs/:job/vertices/:vertex"
    assert ask(f"{vertex}/metrics", get=["1.numRecordsIn", "9.x"]) == [{"id": "1.numRecordsIn", "value": "400"}]
    assert {"id": "0.numRecordsIn"} in ask(f"{vertex}/metrics")
    assert ask(f"{vertex}/subtasks/metrics", get=["numRecordsIn"], agg=["max", "sum"]) == [
        {"id": "numRecordsIn", "max": 600, "sum": 1000}
    ]
    assert ask(f"{vertex}/subtasks/metrics", get=["numRecordsIn"], agg=["sum"], subtasks=["1"]) == [
        {"id": "numRecordsIn", "sum": 400}
    ]


@pytest.mark.parametrize("path", ["/jobs/:job/config", "/jobs/:job/jobmanager/config", "/jobmanager/config"])
def test_what_a_job_logs_in_with_is_not_shown(path: str, tmp_path: Path) -> None:
    job = FakeJob()
    job.configuration = {"s3.secret-key": "hush"}
    job.job_parameters = {"db": "jdbc:postgresql://h/d?user=me&password=hush", "api-key": "hush"}
    endpoint = next(each for each in ENDPOINTS if each.method == "GET" and each.path == path)
    reply = endpoint.handle(OneJob(job, JobHome(tmp_path, JOB_ID), Triggers()), Request(_PARTS, {}))
    assert isinstance(reply, Reply)
    answer = str(reply.body)
    assert "******" in answer and "hush" not in answer
