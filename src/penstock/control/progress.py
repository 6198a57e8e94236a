"""How a running job tells whoever started it how far it is, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.common.job_status import JobStatus


@dataclass(frozen=True)
class JobProgress:
    """One report of a job; `rate` counts source records per second, no lag before the first watermark."""

    state: JobStatus
    epoch: int
    records_in: int
    records_out: int
    rate: float
    watermark_lag_ms: int | None


ProgressListener = Callable[[JobProgress], None]

_listener: ProgressListener | None = None


def progress_listener() -> ProgressListener | None:
    """What the executor calls after every epoch and at every change of state; None when nobody listens."""
    return _listener


def set_progress_listener(listener: ProgressListener | None) -> None:
    """Called by the command line before the program starts; None takes the listener away."""
    global _listener
    _listener = listener
