"""What a reporter is, for those who write one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.common.errors import ConfigurationError
from penstock.metrics.samples import Sample, ScopeFormats


@dataclass(frozen=True)
class ReporterSettings:
    """The options of one reporter, without their prefix; what it does not ask for is a mistake of the user."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    scopes: ScopeFormats = field(default_factory=ScopeFormats)

    def get(self, key: str, default: str | None = None) -> str | None:
        return self.options.get(key, default)

    def required(self, key: str) -> str:
        value = self.options.get(key)
        if value is None:
            raise ConfigurationError(f"the reporter {self.name!r} needs metrics.reporter.{self.name}.{key}")
        return value

    def port(self, default: int) -> int:
        text = self.options.get("port", str(default))
        if not text.isdecimal():
            raise ConfigurationError(f"metrics.reporter.{self.name}.port is a number, not {text!r}")
        return int(text)


class MetricReporter(ABC):
    """Subclass it and name the class in `metrics.reporter.<name>.class`, as module.Class.

    It is made in the driver of a job with its settings, asked to report at its interval, and closed with the job.
    What it raises is printed once and does not harm the job.
    """

    OPTIONS: tuple[str, ...] = ()  # the keys that it knows, besides class, factory.class and interval

    def __init__(self, settings: ReporterSettings) -> None:
        self.settings = settings

    @abstractmethod
    def report(self, samples: Sequence[Sample]) -> None:
        """All metrics of the job as they are now."""

    def close(self) -> None:
        """The job has ended; report() was called a last time."""
