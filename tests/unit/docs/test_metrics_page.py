"""The page is that of the catalogue, and the catalogue names what jobs really report."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.unit.docs import metrics_page

from penstock.common import Types
from penstock.control.metric_reporting import samples_of
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.metrics.catalogue import BUILT_IN


def test_the_page_is_up_to_date() -> None:
    page = metrics_page.PAGE.read_text()
    assert page == metrics_page.metrics_page(), "run .venv/bin/python -m tests.unit.docs.metrics_page"


def test_every_metric_of_a_job_is_in_the_catalogue() -> None:
    executor = LocalExecutor(epoch_records=2)
    env = StreamExecutionEnvironment(executor=executor)
    pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3)], Types.TUPLE([Types.STRING(), Types.INT()]))
    pairs.key_by(lambda pair: pair[0]).reduce(lambda one, other: other).print()
    env.execute("job")
    samples = samples_of(executor._job.describe())  # type: ignore[attr-defined]
    known = {(metric.scope, metric.name) for metric in BUILT_IN}
    found = {(each.scope, re.sub(r"^state\..*\.(\w+)$", r"state.<state>.\1", each.name)) for each in samples}
    assert found <= known
    assert {("operator", "numBytesIn"), ("operator", "state.<state>.entries"), ("job", "epoch.computing")} <= found


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    dashboard = json.loads((Path(metrics_page.PAGE).parent / "grafana-dashboard.json").read_text())
    asked = set(re.findall(r"flink_\w+", json.dumps(dashboard)))
    scopes = {"operator": "taskmanager_job_task_operator", "job": "jobmanager_job", "taskmanager": "taskmanager"}
    known = {
        re.sub(r"\W", "_", f"flink_{scopes[metric.scope]}_{metric.name}")
        for metric in BUILT_IN
        if metric.scope in scopes
    }
    assert asked and asked <= known
