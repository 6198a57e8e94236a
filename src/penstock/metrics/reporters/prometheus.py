"""Prometheus: a port from which it pulls, or a gateway to which the job pushes. Names and labels are those of Flink."""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, delete_from_gateway, push_to_gateway, start_http_server
from prometheus_client.core import GaugeMetricFamily

from penstock.common.errors import ConfigurationError
from penstock.metrics.reporters.base import MetricReporter, ReporterSettings
from penstock.metrics.samples import Sample

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_:]")


class _Newest:
    """A collector of what was reported last."""

    def __init__(self) -> None:
        self.samples: Sequence[Sample] = ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        families: dict[tuple[str, tuple[str, ...]], GaugeMetricFamily] = {}
        for sample in self.samples:
            name = _NOT_IN_A_NAME.sub("_", f"flink_{sample.logical_name}")
            labels = tuple(sorted(sample.variables))
            family = families.setdefault((name, labels), GaugeMetricFamily(name, sample.name, labels=labels))
            family.add_metric([sample.variables[label] for label in labels], sample.value)
        yield from families.values()

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return ()


class PrometheusReporter(MetricReporter):
    """Listens on `port`, one number or a range such as 9250-9260 of which it takes the first that is free."""

    OPTIONS = ("port", "host")

    def __init__(self, settings: ReporterSettings) -> None:
        super().__init__(settings)
        self._newest = _Newest()
        registry = CollectorRegistry()
        registry.register(self._newest)
        self._server, self._thread, self.port = self._listen(registry)

    def _listen(self, registry: CollectorRegistry) -> tuple[Any, threading.Thread, int]:
        first, _, last = (self.settings.get("port") or "9249").partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            raise ConfigurationError(f"metrics.reporter.{self.settings.name}.port is a port, or a range of them")
        host = self.settings.get("host") or "127.0.0.1"
        for port in range(int(first), int(last or first) + 1):
            try:
                server, thread = start_http_server(port, host, registry)
            except OSError:
                continue
            return server, thread, server.server_port
        raise ConfigurationError(f"the reporter {self.settings.name!r} found no free port in {first}-{last or first}")

    def report(self, samples: Sequence[Sample]) -> None:
        self._newest.samples = samples

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class PushGatewayReporter(MetricReporter):
    """Pushes to `hostUrl`; what it has pushed is taken away when the job ends, unless deleteOnShutdown is false."""

    OPTIONS = ("hostUrl", "jobName", "randomJobNameSuffix", "deleteOnShutdown", "groupingKey")

    def __init__(self, settings: ReporterSettings) -> None:
        super().__init__(settings)
        self._gateway = settings.required("hostUrl")
        suffix = uuid.uuid4().hex if settings.get("randomJobNameSuffix", "true") == "true" else ""
        self._job = (settings.get("jobName") or "penstock") + suffix
        pairs = [pair.partition("=") for pair in (settings.get("groupingKey") or "").split(";") if pair]
        self._grouping: dict[str, Any] = {key: value for key, _, value in pairs}
        self._newest = _Newest()
        self._registry = CollectorRegistry()
        self._registry.register(self._newest)

    def report(self, samples: Sequence[Sample]) -> None:
        self._newest.samples = samples
        push_to_gateway(self._gateway, self._job, self._registry, self._grouping)

    def close(self) -> None:
        if self.settings.get("deleteOnShutdown", "true") == "true":
            delete_from_gateway(self._gateway, self._job, self._grouping)
