"""What is wrong with a SQL text: where, what was expected, and what was perhaps meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from penstock.common.errors import ProgramError
from penstock.table.syntax.position import Position


class SqlError(ProgramError):
    """A statement that cannot be read or does not make sense; shows the line, with a mark below the place."""

    def __init__(self, message: str, position: Position | None = None, sql: str | None = None) -> None:
        self.message = message
        self.position = position
        super().__init__(_complete(message, position, sql))


class SqlParseError(SqlError):
    """A statement that is not Flink SQL."""


class SqlValidationError(SqlError):
    """A statement that is Flink SQL, but names what is not there or combines what does not fit."""


def _complete(message: str, position: Position | None, sql: str | None) -> str:
    if position is None:
        return message
    text = f"{message} ({position})"
    if sql is None:
        return text
    lines = sql.splitlines() or [""]
    shown = lines[min(position.line, len(lines)) - 1]
    return f"{text}\n  {shown}\n  {' ' * (position.column - 1)}^"


def nearest(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """The known names that are most like one that is not known."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    return [by_lower[found] for found in difflib.get_close_matches(name.lower(), by_lower, count, 0.6)]


def suggestion(name: str, known: Iterable[str], limit: int = 12) -> str:
    """` Did you mean ..?` when a known name is near, otherwise which names there are."""
    names = list(known)
    near = nearest(name, names, 2)
    if near:
        return " Did you mean {}?".format(" or ".join(repr(candidate) for candidate in near))
    if not names:
        return ""
    listed = ", ".join(names[:limit]) + (", .." if len(names) > limit else "")
    return f" There are: {listed}."
