"""Reporters bring metrics to other systems; which ones, the options `metrics.reporter.<name>.*` say."""

from __future__ import annotations

from penstock.metrics.reporters.base import MetricReporter, ReporterSettings

__all__ = ["MetricReporter", "ReporterSettings"]
