"""Which metrics a reporter gets: `filter.includes` and `filter.excludes`, written and matched as Flink's.

A filter is `scope[:name,name...[:type,type...]]`; several are separated by semicolons. `*` stands for any characters.
The scope is the logical one with the groups of the metric behind it, such as `taskmanager.job.task.operator` or
`jobmanager.job`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.common.errors import ConfigurationError
from penstock.metrics.samples import METRIC_TYPES, Sample

_EVERYTHING = "*:*:*"


@dataclass(frozen=True)
class _Filter:
    scope: re.Pattern[str]
    name: re.Pattern[str]
    types: frozenset[str]

    def matches(self, sample: Sample) -> bool:
        """Groups belong to the scope: the name is what comes after the last dot."""
        group, _, name = sample.metric.rpartition(".")
        scope = f"{sample.logical_scope}.{group}" if group else sample.logical_scope
        return (
            sample.type in self.types
            and self.scope.fullmatch(scope) is not None
            and self.name.fullmatch(name) is not None
        )


class MetricFilter:
    """What is excluded is left out even if it is included."""

    def __init__(self, key: str, includes: str | None = None, excludes: str | None = None) -> None:
        """`key` is the prefix of the two options, for messages."""
        self._includes = _parsed(f"{key}.includes", includes or _EVERYTHING)
        self._excludes = _parsed(f"{key}.excludes", excludes or "")

    def chosen(self, samples: Sequence[Sample]) -> list[Sample]:
        return [each for each in samples if _any(self._includes, each) and not _any(self._excludes, each)]


def _any(filters: Sequence[_Filter], sample: Sample) -> bool:
    return any(each.matches(sample) for each in filters)


def _parsed(key: str, text: str) -> list[_Filter]:
    return [_filter(key, part.strip()) for part in text.split(";") if part.strip()]


def _filter(key: str, text: str) -> _Filter:
    parts = text.split(":")
    if len(parts) > 3:
        raise ConfigurationError(f"{key} has a filter {text!r}; it has the form scope:names:types")
    scope, names, types = (*parts, *["*"] * (3 - len(parts)))
    wanted = frozenset(METRIC_TYPES if types.strip() == "*" else (each.strip().lower() for each in types.split(",")))
    unknown = wanted - frozenset(METRIC_TYPES)
    if unknown:
        raise ConfigurationError(f"{key} asks for the type {sorted(unknown)[0]!r}; there are {', '.join(METRIC_TYPES)}")
    name = "|".join(_pattern(each) for each in names.split(","))
    return _Filter(re.compile(_pattern(scope)), re.compile(name), wanted)


def _pattern(text: str) -> str:
    return ".*".join(re.escape(part) for part in text.strip().split("*"))
