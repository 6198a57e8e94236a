"""One option of a configuration: Flink's or Penstock's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WORKS = "works"


@dataclass(frozen=True)
class Option:
    """One option. `status` is 'works', 'later: <when>', 'no effect: <why>' or 'refused: <why>'.

    `already_true` are the values that ask for what Penstock does anyway; they pass whatever the status says. `resident`
    options work on the resident engine; the status is that on micro-batches. `needless` says of a parsed value why it
    has no effect, or None where the status holds.
    """

    key: str
    type: str
    default: Any
    description: str
    status: str = WORKS
    already_true: tuple[str, ...] = ()
    resident: bool = False
    needless: Callable[[Any], str | None] = lambda _: None
