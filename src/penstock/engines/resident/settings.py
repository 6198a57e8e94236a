"""What a user may choose about the resident engine, read once."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.options import value_of


@dataclass(frozen=True)
class ResidentSettings:
    buffer_timeout_ms: int
    epoch_interval_seconds: float
    epoch_timeout_seconds: float
    slot_timeout_seconds: float
    heartbeat_timeout_seconds: float
    ports: tuple[int, int]
    exactly_once: bool

    @staticmethod
    def of(configuration: Configuration) -> ResidentSettings:
        return ResidentSettings(
            _buffer_timeout(configuration),
            value_of(configuration, "penstock.resident.epoch-interval") / 1000,
            value_of(configuration, "execution.checkpointing.timeout") / 1000,
            value_of(configuration, "penstock.resident.slot-timeout") / 1000,
            value_of(configuration, "penstock.resident.heartbeat-timeout") / 1000,
            port_range(value_of(configuration, "penstock.resident.ports")),
            value_of(configuration, "execution.checkpointing.mode") == "EXACTLY_ONCE",
        )


def _buffer_timeout(configuration: Configuration) -> int:
    """-1: chunks are sent when they are full, and at the end of an epoch."""
    if not value_of(configuration, "execution.buffer-timeout.enabled"):
        return -1
    older = "execution.buffer-timeout"
    return int(value_of(configuration, older if configuration.contains_key(older) else f"{older}.interval"))


def port_range(text: str) -> tuple[int, int]:
    """`0` for any free port, `40000`, or `40000-40100`."""
    first, _, last = text.strip().partition("-")
    if not first.isdigit() or not (last or first).isdigit() or not 0 <= int(first) <= int(last or first) <= 65535:
        raise ConfigurationError(f"penstock.resident.ports: {text!r} is neither a port nor a range such as 40000-40100")
    return int(first), int(last or first)
