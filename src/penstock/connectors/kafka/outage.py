"""Brokers that are away: clients try again with back-off by themselves; after a while it is a failure with a name."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.settings import PATIENCE, KafkaSettings

_DEFAULT_PATIENCE_MS = 60_000
_REFUSALS = {-169, -181}  # librdkafka's _AUTHENTICATION and _SSL


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
        self._refused = False

    def error_cb(self, error: Any) -> None:
        if self._since is None:
            self._since = self._clock()
        # That brokers are down is what follows from a login that they refuse, and would hide it.
        refused = error.code() in _REFUSALS
        if refused or not self._refused:
            self._reason, self._refused = error.str(), refused

    @property
    def lasts_too_long(self) -> bool:
        return self._since is not None and self._clock() - self._since > self.patience

    @property
    def noticed(self) -> bool:
        return self._since is not None

    def over(self) -> None:
        self._since, self._refused = None, False

    def failure(self, reason: Any = None) -> KafkaUnreachable:
        return self.failure_of(reason and reason.str())

    def failure_of(self, reason: object, refused: bool = False) -> KafkaUnreachable:
        self._refused |= refused
        said = " / ".join(dict.fromkeys(filter(None, (str(reason or ""), self._reason))))
        question = self.refusal or "Are the brokers running, and is their address right as seen from the workers?"
        return KafkaUnreachable(
            f"Kafka at {self._servers} does not answer while {self._doing} (tried for {self.patience:g} s): {said}."
            f" {question} A restart strategy makes the job try again; {PATIENCE} says how long to wait."
        )

    @property
    def refusal(self) -> str:
        """What to look at if brokers are there and do not let this client in; else empty."""
        return "Are user and password, or the certificates, right?" if self._refused else ""
