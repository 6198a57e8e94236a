"""What builders of connectors are given: refused by the method that gets it, rather than in a worker of the job."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ConfigurationError


def text(method: str, given: Any) -> Any:
    """None, too, stands for nothing. Without what was given, which may be a password."""
    if given is not None and not isinstance(given, str):
        raise ConfigurationError(f"{method}() takes a text, got one of type {type(given).__name__}.")
    return given


def number(method: str, given: Any, least: int = 0, most: int | None = None) -> int:
    whole = isinstance(given, int) and not isinstance(given, bool)
    if not whole or given < least or (most is not None and given > most):
        end = "on" if most is None else f"to {most}"
        raise ConfigurationError(f"{method}() takes whole numbers from {least} {end}, got {given!r}.")
    return int(given)


def flag(method: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise ConfigurationError(f"{method}() takes True or False, got {given!r}.")
    return given


def instance(method: str, given: Any, wanted: type) -> Any:
    if not isinstance(given, wanted):
        raise ConfigurationError(f"{method}() takes {wanted.__name__}, got {given!r:.200}.")
    return given
