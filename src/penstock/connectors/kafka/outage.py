"""Brokers that are away: clients try again with back-off by themselves; after a while it is a failure with a name."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.settings import PATIENCE, KafkaSettings

_DEFAULT_PATIENCE_MS = 60_000


class KafkaUnreachable(JobExecutionError):
    """The restart strategy decides what becomes of the job."""


class Outage:
    """Remembers since when brokers do not answer. `error_cb` is for librdkafka, which calls it while it is polled."""

    def __init__(self, settings: KafkaSettings, doing: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.patience = settings.number(PATIENCE, _DEFAULT_PATIENCE_MS) / 1000
        self._servers = settings.servers
        self._doing = doing
        self._clock = clock
        self._since: float | None = None
        self._reason: Any = ""

    def error_cb(self, error: Any) -> None:
        if self._since is None:
            self._since = self._clock()
        self._reason = error.str()

    @property
    def lasts_too_long(self) -> bool:
        return self._since is not None and self._clock() - self._since > self.patience

    @property
    def noticed(self) -> bool:
        return self._since is not None

    def over(self) -> None:
        self._since = None

    def failure(self, reason: Any = None) -> KafkaUnreachable:
        return self.failure_of(reason and reason.str())

    def failure_of(self, reason: object) -> KafkaUnreachable:
        said = " / ".join(dict.fromkeys(filter(None, (str(reason or ""), self._reason))))
        return KafkaUnreachable(
            f"Kafka at {self._servers} does not answer while {self._doing} (tried for {self.patience:g} s): {said}."
            " Are the brokers running, and is their address right as seen from the workers? A restart strategy makes"
            f" the job try again; {PATIENCE} says how long to wait."
        )
