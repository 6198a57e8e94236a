"""Systems outside that may be away: tried again with growing pauses, then reported with what and where they are."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from penstock.common.errors import JobExecutionError, PenstockError, SetupError

Result = TypeVar("Result")
CONNECT_RETRIES = 4
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 10.0


def package(module: str, extra: str) -> Any:
    """A client library that is not installed with Penstock itself."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise SetupError(
            f"The package {module.partition('.')[0]!r} is needed and not installed: pip install 'penstock[{extra}]'"
        ) from error


def pause_seconds(retry: int) -> float:
    """How long to wait before a retry; the first is number 0."""
    return min(_FIRST_PAUSE_SECONDS * 2.0**retry, _LONGEST_PAUSE_SECONDS)


def reach(
    what: str,
    attempt: Callable[[], Result],
    is_away: Callable[[Exception], bool],
    retries: int = CONNECT_RETRIES,
    secrets: Iterable[str | None] = (),
    sleep: Callable[[float], None] = time.sleep,
) -> Result:
    """The result of an attempt, repeated while the system is away. `what` names it and its place, in every error."""
    for retry in range(retries + 1):
        try:
            return attempt()
        except PenstockError:  # it says so itself
            raise
        except Exception as error:
            # Without the original traceback, whose lines could show what was connected with.
            text = without_secrets(" ".join(str(error).split()) or repr(error), secrets)
            if not is_away(error):
                raise JobExecutionError(f"{what}: {type(error).__name__}: {text}") from None
            if retry == retries:
                raise JobExecutionError(f"{what} is away, after {retries + 1} attempts: {text}") from None
        sleep(pause_seconds(retry))
    raise AssertionError("unreachable")


def without_secrets(text: str, secrets: Iterable[str | None]) -> str:
    for secret in filter(None, secrets):
        text = text.replace(secret, "*****")
    return text
