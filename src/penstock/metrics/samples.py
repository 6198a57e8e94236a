"""Metrics on their way to a reporter: values, the scope they belong to, and the names that scopes give them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# Flink's options and defaults; the last part is the name by which Prometheus and InfluxDB know the scope.
SCOPES: dict[str, tuple[str, str, str]] = {
    "jobmanager": ("metrics.scope.jm", "<host>.jobmanager", "jobmanager"),
    "job": ("metrics.scope.jm-job", "<host>.jobmanager.<job_name>", "jobmanager_job"),
    "taskmanager": ("metrics.scope.tm", "<host>.taskmanager.<tm_id>", "taskmanager"),
    "operator": (
        "metrics.scope.operator",
        "<host>.taskmanager.<tm_id>.<job_name>.<operator_name>.<subtask_index>",
        "taskmanager_job_task_operator",
    ),
}


METRIC_TYPES = ("counter", "meter", "gauge", "histogram")  # as filters of reporters name them
_VALUE_OF_SEVERAL = re.compile(r"\.(count|rate|sum|min|max|mean|p\d+)$")


@dataclass(frozen=True)
class Sample:
    """One value of one metric."""

    scope: str  # one of SCOPES
    name: str
    value: float
    variables: Mapping[str, str] = field(default_factory=dict)  # host, job_id, job_name, operator_name, ...
    type: str = "gauge"  # one of METRIC_TYPES

    @property
    def logical_name(self) -> str:
        return f"{SCOPES[self.scope][2]}_{self.name}"

    @property
    def metric(self) -> str:
        """The name of the metric that this is one of several values of: a meter has a count and a rate."""
        return _VALUE_OF_SEVERAL.sub("", self.name) if self.type in ("meter", "histogram") else self.name

    @property
    def logical_scope(self) -> str:
        return SCOPES[self.scope][2].replace("_", ".")


class ScopeFormats:
    """How the parts of a name are put together."""

    def __init__(self, formats: Mapping[str, str] | None = None, delimiter: str = ".") -> None:
        self._formats = {scope: (formats or {}).get(key) or default for scope, (key, default, _) in SCOPES.items()}
        self._delimiter = delimiter

    def full_name(self, sample: Sample, clean: re.Pattern[str] | None = None) -> str:
        """The scope's format with its variables filled in, and the metric's name after it.

        `clean` matches what a reporter cannot have inside of a part.
        """
        parts = self._formats[sample.scope].split(".")
        filled = [re.sub(r"<(\w+)>", lambda match: sample.variables.get(match[1], match[0]), part) for part in parts]
        if clean is not None:
            filled = [clean.sub("_", part) for part in filled]
        name = sample.name if clean is None else clean.sub("_", sample.name)
        return self._delimiter.join([*filled, name])
