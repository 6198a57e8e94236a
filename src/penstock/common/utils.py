"""The class that PyFlink puts around Java objects; here only so that imports keep working."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import NotSupportedError

__all__ = ["JavaObjectWrapper"]


def refuse_java_object(owner: str, argument: str, value: Any, instead: str) -> None:
    """Refuses a Java object where PyFlink's constructors take one."""
    if value is not None:
        raise NotSupportedError(
            f"{owner} got {argument}={value!r}, but Penstock runs without Flink's Java classes. {instead}"
        )


class JavaObjectWrapper:
    """Base of PyFlink's wrappers; Penstock has no Java objects to wrap."""

    def __init__(self, j_object: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_object", j_object, "Use the Python class directly.")

    def get_java_object(self) -> Any:
        raise NotSupportedError(
            f"{type(self).__name__}.get_java_object() has nothing to return:"
            " Penstock runs without Flink's Java classes."
        )
