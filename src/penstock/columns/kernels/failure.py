"""Failures of values, as text that is no number; they stop the job, or become null under TRY_CAST."""

from __future__ import annotations

from penstock.common.errors import JobExecutionError


class ValueFailure(JobExecutionError, ValueError):
    """A value with which a function cannot work; the message shows the value."""
