"""Metrics that functions register through ``runtime_context.get_metrics_group()``."""

from __future__ import annotations

from penstock.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
