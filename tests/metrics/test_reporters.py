"""Reporters against the servers that they are for, and what a configuration may say about them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.services.metric_stores import fetched, influxdb, prometheus, push_gateway
from tests.services.processes import wait_until
from tests.unit.rest.fake_job import FakeJob

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.control.metric_reporting import MetricReporting, samples_of
from penstock.datastream import StreamExecutionEnvironment
from penstock.metrics.reporters import MetricReporter
from penstock.metrics.reporters.prometheus import PrometheusReporter
from penstock.metrics.reporters.registry import make_reporters
from penstock.metrics.samples import Sample, ScopeFormats

SAMPLES = samples_of(FakeJob().describe())


def reporter(**options: str) -> MetricReporter:
    settings = {f"metrics.reporter.r.{key.replace('_', '.')}": value for key, value in options.items()}
    [made] = make_reporters(settings)
    return made.reporter


def test_a_real_prometheus_pulls_the_metrics_under_flinks_names(tmp_path: Path) -> None:
    reporting = reporter(factory_class="org.apache.flink.metrics.prometheus.PrometheusReporterFactory", port="0")
    assert isinstance(reporting, PrometheusReporter)
    reporting.report(SAMPLES)
    with prometheus(tmp_path, reporting.port) as address:
        query = {"query": "sum(flink_taskmanager_job_task_operator_numRecordsIn{operator_name='Count'})"}

        def value() -> list[str]:
            return [each["value"][1] for each in fetched(f"{address}/api/v1/query", query)["data"]["result"]]

        wait_until(lambda: value() == ["1000"], "the sum over both subtasks", 30)
    reporting.close()


def test_a_real_push_gateway_gets_the_metrics_and_loses_them_at_the_end(tmp_path: Path) -> None:
    with push_gateway(tmp_path) as address:
        pushing = reporter(**{"class": "pushgateway", "hostUrl": address, "jobName": "mine", "groupingKey": "team=a"})
        pushing.report(SAMPLES)
        [group] = fetched(f"{address}/api/v1/metrics")["data"]
        assert group["labels"]["team"] == "a" and group["labels"]["job"].startswith("mine")
        assert group["flink_jobmanager_job_uptime"]["metrics"][0]["value"] == "65000"
        pushing.close()
        assert fetched(f"{address}/api/v1/metrics")["data"] == []


def test_a_real_influxdb_gets_the_metrics(tmp_path: Path) -> None:
    with influxdb(tmp_path) as port:
        fetched(f"http://127.0.0.1:{port}/query", {"q": "CREATE DATABASE jobs"}, post=True)
        reporter(**{"class": "influxdb", "host": "127.0.0.1", "port": str(port), "db": "jobs"}).report(SAMPLES)
        measured = "SELECT sum(value) FROM \"taskmanager_job_task_operator_numRecordsIn\" WHERE operator_name = 'Count'"
        answer = fetched(f"http://127.0.0.1:{port}/query", {"db": "jobs", "q": measured})
        assert answer["results"][0]["series"][0]["values"][0][1] == 1000
        wrong = reporter(**{"class": "influxdb", "host": "127.0.0.1", "port": str(port), "db": "none"})
        with pytest.raises(ConnectionError, match="404"):
            wrong.report(SAMPLES)


@contextlib.contextmanager
def listening(kind: socket.SocketKind) -> Iterator[tuple[int, Callable[[], bytes]]]:
    with socket.socket(socket.AF_INET, kind) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        if kind is socket.SOCK_DGRAM:
            yield server.getsockname()[1], lambda: server.recv(65536)
            return
        server.listen()

        def receive() -> bytes:
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as file:
                return file.read()

        yield server.getsockname()[1], receive


def test_graphite_and_statsd_lines() -> None:
    sample = Sample("job", "up time", 5.0, {"host": "a.b", "job_name": "my job"})
    with listening(socket.SOCK_STREAM) as (port, receive):
        sending = reporter(**{"class": "graphite", "host": "127.0.0.1", "port": str(port)})
        thread = threading.Thread(target=sending.report, args=([sample],))
        thread.start()
        path, value, _ = receive().decode().split()
        thread.join()
        assert (path, value) == ("a_b.jobmanager.my_job.up_time", "5")
    with listening(socket.SOCK_DGRAM) as (port, receive):
        reporter(**{"class": "statsd", "host": "127.0.0.1", "port": str(port)}).report(
            [sample, Sample("job", "lag", -3.0, {"host": "h", "job_name": "j"})]
        )
        assert receive() == b"a_b.jobmanager.my_job.up_time:5|g\nh.jobmanager.j.lag:0|g\nh.jobmanager.j.lag:-3|g\n"


def test_scope_formats() -> None:
    formats = ScopeFormats({"metrics.scope.jm-job": "jobs.<job_id>.<unknown>"}, "/")
    sample = Sample("job", "uptime", 1, {"job_id": "7"})
    assert formats.full_name(sample) == "jobs/7/<unknown>/uptime"


class Remembering(MetricReporter):
    OPTIONS = ("greeting",)
    seen: list[float] = []
    closed = False

    def report(self, samples: Sequence[Sample]) -> None:
        assert self.settings.get("greeting") == "hello"
        Remembering.seen += [sample.value for sample in samples if sample.name == "numRecordsIn"]

    def close(self) -> None:
        Remembering.closed = True


def test_a_class_of_the_user_gets_the_last_numbers_of_a_short_job(
    local_env: Callable[..., StreamExecutionEnvironment], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("penstock.metrics.reporters.registry.importlib.import_module", _importing)
    env = local_env()
    for key, value in {
        "metrics.reporter.mine.class": "tests_of_reporters.Remembering",
        "metrics.reporter.mine.greeting": "hello",
        "metrics.reporter.file.class": "log",
        "metrics.reporter.file.file": str(tmp_path / "metrics.log"),
    }.items():
        env._configuration.set_string(key, value)
    env.from_collection([1, 2, 3]).map(lambda n: n).execute_and_collect().close()
    assert Remembering.seen and max(Remembering.seen) == 3 and Remembering.closed
    assert "numRecordsIn: 3" in (tmp_path / "metrics.log").read_text()


def _importing(name: str) -> object:
    import importlib as real
    import sys

    return sys.modules[__name__] if name == "tests_of_reporters" else real.__import__(name, fromlist=["x"])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"metrics.reporter.r.port": "1"}, "needs metrics.reporter.r.class"),
        ({"metrics.reporter.r.class": "graphite", "metrics.reporter.r.hots": "a"}, "hots is not known"),
        ({"metrics.reporter.r.class": "no.such.Class"}, "is not there"),
        ({"metrics.reporter.r.class": "pathlib.Path"}, "no subclass"),
        ({"metrics.reporters": "a"}, "there is no metrics.reporter.a"),
        ({"metrics.reporter.r.class": "influxdb"}, "needs metrics.reporter.r.db"),
    ],
)
def test_mistakes_are_errors_before_the_job_starts(options: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        make_reporters(options)


def test_otlp_over_grpc_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="http"):
        reporter(**{"class": "opentelemetry", "exporter.endpoint": "x", "exporter.protocol": "grpc"})


def test_a_reporter_that_fails_does_not_harm_the_job(capsys: pytest.CaptureFixture[str]) -> None:
    options = {"metrics.reporter.g.class": "graphite", "metrics.reporter.g.host": "127.0.0.1"}
    reporting = MetricReporting({**options, "metrics.reporter.g.port": "1"}, FakeJob().describe)
    reporting.start()
    reporting.close()
    assert "the metric reporter 'g' failed" in capsys.readouterr().err
