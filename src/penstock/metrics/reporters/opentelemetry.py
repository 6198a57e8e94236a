"""OpenTelemetry: OTLP over HTTP, with the exporter of its own project."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from typing import Any

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.option_values import parse_duration
from penstock.metrics.reporters.base import MetricReporter, ReporterSettings
from penstock.metrics.samples import Sample


class OpenTelemetryReporter(MetricReporter):
    """Sends to `exporter.endpoint`, such as http://collector:4318/v1/metrics."""

    OPTIONS = ("exporter.endpoint", "exporter.protocol", "exporter.timeout", "service.name", "service.version")

    def __init__(self, settings: ReporterSettings) -> None:
        super().__init__(settings)
        if (settings.get("exporter.protocol") or "http") != "http":
            raise NotSupportedError("the OpenTelemetry reporter speaks http, not gRPC: set exporter.protocol to http")
        try:
            export = importlib.import_module("opentelemetry.exporter.otlp.proto.http.metric_exporter")
            self._sdk: Any = importlib.import_module("opentelemetry.sdk.metrics.export")
            resources = importlib.import_module("opentelemetry.sdk.resources")
            scope = importlib.import_module("opentelemetry.sdk.util.instrumentation")
        except ImportError:
            raise ConfigurationError(
                "the OpenTelemetry reporter needs packages that are missing: pip install 'penstock[opentelemetry]'"
            ) from None
        timeout = parse_duration(settings.get("exporter.timeout") or "10 s") / 1000
        self._exporter: Any = export.OTLPMetricExporter(settings.required("exporter.endpoint"), timeout=timeout)
        self._since = time.time_ns()
        about = {"service.name": settings.get("service.name") or "penstock"}
        if settings.get("service.version"):
            about["service.version"] = settings.required("service.version")
        self._resource = resources.Resource.create(about)
        self._scope = scope.InstrumentationScope("penstock")

    def report(self, samples: Sequence[Sample]) -> None:
        sdk, now = self._sdk, time.time_ns()
        points: dict[tuple[str, bool], list[Any]] = {}
        for sample in samples:
            name, counts = f"flink.{sample.logical_scope}.{sample.name}", sample.type == "counter"
            point = sdk.NumberDataPoint(dict(sample.variables), self._since if counts else 0, now, sample.value)
            points.setdefault((name, counts), []).append(point)
        metrics = [
            sdk.Metric(name, "", "", self._sum(each) if counts else sdk.Gauge(data_points=each))
            for (name, counts), each in points.items()
        ]
        scoped = sdk.ScopeMetrics(self._scope, metrics, "")
        data = sdk.MetricsData([sdk.ResourceMetrics(self._resource, [scoped], "")])
        result = self._exporter.export(data)
        if result is not sdk.MetricExportResult.SUCCESS:
            raise ConnectionError(f"{self.settings.get('exporter.endpoint')} did not take the metrics")

    def _sum(self, points: list[Any]) -> Any:
        """Counters of functions may also count down."""
        return self._sdk.Sum(points, self._sdk.AggregationTemporality.CUMULATIVE, is_monotonic=False)

    def close(self) -> None:
        self._exporter.shutdown()
