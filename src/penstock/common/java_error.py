"""Failures under the name by which PyFlink programs catch them: `except py4j.protocol.Py4JJavaError`.

Only where `pyflink` means Penstock (`penstock run --pyflink`); other programs catch JobExecutionError.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, cast

from penstock.common.errors import JobExecutionError

_wanted = False


def want_java_errors() -> None:
    """From now on failures of jobs are Py4JJavaErrors as well."""
    global _wanted
    _wanted = True


def as_raised(error: JobExecutionError) -> JobExecutionError:
    """The error that the program sees."""
    if not _wanted or hasattr(error, "java_exception"):
        return error
    java_kind = _java_kind(cast(Any, type(error)))
    if java_kind is None:
        return error
    raised: Any = java_kind.__new__(java_kind)
    raised.args = error.args
    raised.__dict__.update(error.__dict__)
    raised.__cause__, raised.__traceback__ = error.__cause__, error.__traceback__
    raised.errmsg, raised.exception_cmd = str(error), ""
    raised.java_exception = JavaException(error.failure.exception, str(error))
    return raised  # type: ignore[no-any-return]


@functools.cache
def _java_kind(kind: type[JobExecutionError]) -> type[JobExecutionError] | None:
    try:
        py4j_error = importlib.import_module("py4j.protocol").Py4JJavaError
    except ModuleNotFoundError:
        return None
    return type(
        kind.__name__, (kind, py4j_error), {"__str__": JobExecutionError.__str__, "__module__": kind.__module__}
    )


class JavaException:
    """Answers what programs ask of `error.java_exception`."""

    def __init__(self, name: str, message: str) -> None:
        self._name = name
        self._message = message

    def getMessage(self) -> str:  # noqa: N802 (Java's name)
        return self._message

    def toString(self) -> str:  # noqa: N802
        return f"{self._name}: {self._message}"

    def getCause(self) -> None:  # noqa: N802
        return None

    def __str__(self) -> str:
        return self.toString()
