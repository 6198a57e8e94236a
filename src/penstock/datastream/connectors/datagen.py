"""Generated records, under the name of Flink's module."""

from __future__ import annotations

from penstock.connectors.data_generator import DataGeneratorSource, RateLimiterStrategy

__all__ = ["DataGeneratorSource", "RateLimiterStrategy"]
