"""Makes visible what sinks have staged in an epoch, once the epoch is complete."""

from __future__ import annotations

from typing import Any


def commit_epoch(committables: list[Any]) -> None:
    """Sinks hand in objects with a `commit` of their own; each is idempotent."""
    for committable in committables:
        committable.commit()
