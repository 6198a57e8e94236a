"""The identity of a job: 128 bits, written as 32 hexadecimal digits."""

from __future__ import annotations

import re
import uuid

__all__ = ["JobID"]

_TEXT_FORM = re.compile(r"[0-9a-f]{32}")


class JobID:
    """Identifies one job; compared by its digits. ``JobID()`` makes a new one."""

    __slots__ = ("_digits",)

    def __init__(self, digits: str | None = None) -> None:
        if digits is None:
            digits = uuid.uuid4().hex
        if not isinstance(digits, str) or not _TEXT_FORM.fullmatch(digits):
            raise ValueError(f"A job id has 32 lower-case hexadecimal digits, {digits!r} is none.")
        self._digits = digits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JobID) and self._digits == other._digits

    def __hash__(self) -> int:
        return hash(self._digits)

    def __str__(self) -> str:
        return self._digits

    def __repr__(self) -> str:
        return f"JobID({self._digits!r})"
