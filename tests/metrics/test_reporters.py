"""Reporters against the servers that they are for, and what a configuration may say about them."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from tests.services.metric_stores import carbon, fetched, influxdb, prometheus, push_gateway, statsd
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


def test_a_real_carbon_stores_the_metrics(tmp_path: Path) -> None:
    with carbon(tmp_path) as (port, values):
        sending = reporter(**{"class": "graphite", "host": "127.0.0.1", "port": str(port)})
        sending.report([Sample("job", "up time", 5.0, {"host": "a.b", "job_name": "my job"})])
        wait_until(lambda: values("a_b.jobmanager.my_job.up_time") == [5.0], "the value in carbon's file", 30)


def test_a_real_statsd_takes_gauges_also_below_zero(tmp_path: Path) -> None:
    with statsd(tmp_path) as (port, flushed):
        sending = reporter(**{"class": "statsd", "host": "127.0.0.1", "port": str(port)})
        of = {"host": "h", "job_name": "j"}
        samples = [Sample("job", "uptime", 5.0, of), Sample("job", "lag", -3.0, of), Sample("job", "lag", -3.0, of)]

        def seen() -> bool:
            sending.report(samples)
            return "'h.jobmanager.j.uptime': 5" in flushed() and "'h.jobmanager.j.lag': -3" in flushed()

        wait_until(seen, "both gauges in what statsd has flushed", 30)


def test_otlp_requests_are_what_the_protocol_says() -> None:
    received: list[tuple[str, bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}/v1/metrics"
    options = {"class": "opentelemetry", "exporter.endpoint": endpoint, "exporter.timeout": "5 s", "service.name": "x"}
    reporting = reporter(**options)
    counted = Sample("operator", "my_group.records_in", 7, {"operator_name": "Count"}, "counter")
    reporting.report([counted, Sample("job", "uptime", 2.5)])
    reporting.close()
    server.shutdown()
    server.server_close()
    [(path, body)] = received
    [resource] = ExportMetricsServiceRequest.FromString(body).resource_metrics
    assert path == "/v1/metrics"
    assert "x" in [each.value.string_value for each in resource.resource.attributes if each.key == "service.name"]
    found = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    [count] = found["flink.taskmanager.job.task.operator.my_group.records_in"].sum.data_points
    assert (count.as_int, count.attributes[0].value.string_value) == (7, "Count")
    assert found["flink.jobmanager.job.uptime"].gauge.data_points[0].as_double == 2.5


def test_otlp_over_grpc_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="http"):
        reporter(**{"class": "opentelemetry", "exporter.endpoint": "x", "exporter.protocol": "grpc"})


def test_a_reporter_that_fails_does_not_harm_the_job(capsys: pytest.CaptureFixture[str]) -> None:
    options = {"metrics.reporter.g.class": "graphite", "metrics.reporter.g.host": "127.0.0.1"}
    reporting = MetricReporting({**options, "metrics.reporter.g.port": "1"}, FakeJob().describe)
    reporting.start()
    reporting.close()
    assert "the metric reporter 'g' failed" in capsys.readouterr().err


def names_of(**filters: str) -> set[str]:
    settings = {f"metrics.reporter.r.filter.{key}": value for key, value in filters.items()}
    [made] = make_reporters({"metrics.reporter.r.class": "log", **settings})
    samples = [
        Sample("operator", "numRecordsIn", 1, type="counter"),
        Sample("operator", "numRecordsInPerSecond", 1, type="meter"),
        Sample("operator", "busyTimeMsPerSecond", 1),
        Sample("operator", "mine.sizes.mean", 1, type="histogram"),
        Sample("job", "uptime", 1),
        Sample("jobmanager", "Status.Process.CPU.Time", 1),
    ]
    return {sample.name for sample in made.filter.chosen(samples)}


def test_filters_choose_by_scope_name_and_type_as_flinks_do() -> None:
    assert len(names_of()) == 6
    assert names_of(includes="jobmanager.job") == {"uptime"}
    assert names_of(includes="*.operator:num*,busy*") == {
        "numRecordsIn",
        "numRecordsInPerSecond",
        "busyTimeMsPerSecond",
    }
    assert names_of(includes="*:*:counter,histogram") == {"numRecordsIn", "mine.sizes.mean"}
    assert names_of(includes="*.mine:sizes; jobmanager.Status.*:Time") == {"mine.sizes.mean", "Status.Process.CPU.Time"}
    assert names_of(includes="*.operator", excludes="*:*PerSecond") == {"numRecordsIn"}
    with pytest.raises(ConfigurationError, match="filter.includes asks for the type 'timer'"):
        names_of(includes="*:*:timer")
    with pytest.raises(ConfigurationError, match=r"filter.excludes has a filter 'a:b:c:d'"):
        names_of(excludes="a:b:c:d")
