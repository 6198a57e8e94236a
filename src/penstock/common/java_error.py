"""Errors under the name by which PyFlink programs catch them: `except py4j.protocol.Py4JJavaError`.

Only where `pyflink` means Penstock (`penstock run --pyflink`); other programs catch PenstockError and its kinds.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, TypeVar

E = TypeVar("E", bound=Exception)
_wanted = False


def want_java_errors() -> None:
    """From now on Penstock's errors are Py4JJavaErrors as well: in PyFlink nearly all of them come from Java."""
    global _wanted
    _wanted = True


def raised_as(kind: type[E]) -> type[E]:
    """The class of an error that is about to be made."""
    if not _wanted or hasattr(kind, "java_exception"):
        return kind
    java_kind: type[E] = _java_kind(kind)  # type: ignore[arg-type]
    return java_kind


@functools.cache
def _java_kind(kind: Any) -> Any:
    try:
        py4j_error = importlib.import_module("py4j.protocol").Py4JJavaError
    except ModuleNotFoundError:
        return kind

    def reduced(error: Exception) -> Any:
        """Of the class that everybody can find; where it arrives it is a Java error if that is wanted there."""
        return remade, (kind, error.args, error.__dict__)

    members = {"__reduce__": reduced, "java_exception": property(_java_exception), "errmsg": property(str)}
    return type(kind.__name__, (kind, py4j_error), {**members, "exception_cmd": "", "__module__": kind.__module__})


def remade(kind: type[E], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> E:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


def _java_exception(error: Any) -> JavaException:
    failure = getattr(error, "failure", None)
    return JavaException(type(error).__name__ if failure is None else failure.exception, str(error))


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
