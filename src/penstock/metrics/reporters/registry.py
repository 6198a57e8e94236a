"""Which reporters a configuration asks for: by a short name, by Flink's factory class, or by a class of the user."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.common.errors import ConfigurationError
from penstock.common.option_values import parse_duration
from penstock.metrics.reporters.base import MetricReporter, ReporterSettings
from penstock.metrics.reporters.filters import MetricFilter
from penstock.metrics.samples import ScopeFormats

_PREFIX = "metrics.reporter."
_HERE = "penstock.metrics.reporters"
_FLINK = "org.apache.flink.metrics"
_DEFAULT_INTERVAL_MS = 10_000
_GENERAL = ("class", "factory.class", "interval", "filter.includes", "filter.excludes")

# short name: class here, Flink's factory
REPORTERS: dict[str, tuple[str, str]] = {
    "prometheus": (f"{_HERE}.prometheus.PrometheusReporter", f"{_FLINK}.prometheus.PrometheusReporterFactory"),
    "pushgateway": (
        f"{_HERE}.prometheus.PushGatewayReporter",
        f"{_FLINK}.prometheus.PrometheusPushGatewayReporterFactory",
    ),
    "graphite": (f"{_HERE}.lines.GraphiteReporter", f"{_FLINK}.graphite.GraphiteReporterFactory"),
    "statsd": (f"{_HERE}.lines.StatsDReporter", f"{_FLINK}.statsd.StatsDReporterFactory"),
    "influxdb": (f"{_HERE}.lines.InfluxDbReporter", f"{_FLINK}.influxdb.InfluxdbReporterFactory"),
    "log": (f"{_HERE}.lines.LogReporter", f"{_FLINK}.slf4j.Slf4jReporterFactory"),
    "opentelemetry": (
        f"{_HERE}.opentelemetry.OpenTelemetryReporter",
        f"{_FLINK}.otel.OpenTelemetryMetricReporterFactory",
    ),
}


@dataclass(frozen=True)
class ConfiguredReporter:
    reporter: MetricReporter
    interval_ms: int
    filter: MetricFilter


def make_reporters(configuration: Mapping[str, str]) -> list[ConfiguredReporter]:
    """Those of metrics.reporters, or all that are configured; every mistake is an error before the job starts."""
    options: dict[str, dict[str, str]] = {}
    for key, value in configuration.items():
        if key.startswith(_PREFIX):
            name, _, rest = key.removeprefix(_PREFIX).partition(".")
            options.setdefault(name, {})[rest] = value
    wanted = [name.strip() for name in configuration.get("metrics.reporters", "").split(",") if name.strip()]
    for name in wanted:
        if name not in options:
            raise ConfigurationError(f"metrics.reporters names {name!r}, but there is no metrics.reporter.{name}.*")
    formats = {key: value for key, value in configuration.items() if key.startswith("metrics.scope.")}
    scopes = ScopeFormats(formats, configuration.get("metrics.scope.delimiter", "."))
    return [_make(name, options[name], scopes) for name in wanted or options]


def _make(name: str, options: dict[str, str], scopes: ScopeFormats) -> ConfiguredReporter:
    reporter_class = _class_of(name, options)
    for key in options:
        if key not in (*_GENERAL, *reporter_class.OPTIONS):
            known = ", ".join((*_GENERAL, *reporter_class.OPTIONS))
            raise ConfigurationError(f"metrics.reporter.{name}.{key} is not known; known are {known}")
    interval = parse_duration(options["interval"]) if "interval" in options else _DEFAULT_INTERVAL_MS
    if interval <= 0:
        raise ConfigurationError(f"metrics.reporter.{name}.interval is a duration above 0")
    chosen = MetricFilter(f"{_PREFIX}{name}.filter", options.get("filter.includes"), options.get("filter.excludes"))
    return ConfiguredReporter(reporter_class(ReporterSettings(name, options, scopes)), interval, chosen)


def _class_of(name: str, options: Mapping[str, str]) -> type[MetricReporter]:
    wanted = options.get("factory.class") or options.get("class")
    if wanted is None:
        raise ConfigurationError(f"the reporter {name!r} needs metrics.reporter.{name}.class: {', '.join(REPORTERS)}")
    path = next((own for short, (own, flink) in REPORTERS.items() if wanted in (short, flink)), wanted)
    module, _, class_name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"the class {wanted!r} of the reporter {name!r} is not there ({error})") from None
    if not (isinstance(found, type) and issubclass(found, MetricReporter)):
        raise ConfigurationError(f"{wanted!r} is no subclass of penstock.metrics.reporters.MetricReporter")
    return found
