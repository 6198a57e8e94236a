"""OpenTelemetry: OTLP over HTTP, with the exporter of its own project."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from typing import Any

from penstock.common.errors import ConfigurationError, NotSupportedError
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
        self._exporter: Any = export.OTLPMetricExporter(endpoint=settings.required("exporter.endpoint"))
        about = {"service.name": settings.get("service.name") or "penstock"}
        if settings.get("service.version"):
            about["service.version"] = settings.required("service.version")
        self._resource = resources.Resource.create(about)
        self._scope = scope.InstrumentationScope("penstock")

    def report(self, samples: Sequence[Sample]) -> None:
        sdk, now = self._sdk, time.time_ns()
        points: dict[str, list[Any]] = {}
        for sample in samples:
            point = sdk.NumberDataPoint(dict(sample.variables), 0, now, sample.value)
            points.setdefault(f"flink.{sample.logical_name.replace('_', '.')}", []).append(point)
        metrics = [sdk.Metric(name, "", "", sdk.Gauge(data_points=each)) for name, each in points.items()]
        scoped = sdk.ScopeMetrics(self._scope, metrics, "")
        data = sdk.MetricsData([sdk.ResourceMetrics(self._resource, [scoped], "")])
        result = self._exporter.export(data)
        if result is not sdk.MetricExportResult.SUCCESS:
            raise ConnectionError(f"{self.settings.get('exporter.endpoint')} did not take the metrics")

    def close(self) -> None:
        self._exporter.shutdown()
