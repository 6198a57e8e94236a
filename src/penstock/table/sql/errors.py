"""What is wrong with a SQL text: where, what was expected, and what was perhaps meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from penstock.common.credentials import mentions_credentials
from penstock.common.errors import ProgramError
from penstock.table.syntax.position import Position

_HIDDEN = "'*****'"
_VALUE = re.compile(r"'(?:[^']|'')*(?:'|$)|\"[^\"]*(?:\"|$)|=\s*([^\s'\"=,)][^\s'\",)]*)")  # also without quotes


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
    shown, mark = lines[min(position.line, len(lines)) - 1], position.column - 1
    if mentions_credentials(sql):
        shown, mark = _without_values(shown, mark)
    return f"{text}\n  {shown}\n  {' ' * mark}^"


def _without_values(line: str, mark: int) -> tuple[str, int]:
    """Of options only the keys, and the same place after that."""
    parts, done, place = [], 0, mark
    for found in _VALUE.finditer(line):
        if found[1] is None and line[found.end() :].lstrip().startswith("="):
            continue
        start = found.start(1) if found[1] else found.start()
        parts += [line[done:start], _HIDDEN]
        done = found.end()
        if start < mark:
            place += len(_HIDDEN) - (min(done, mark) - start)
    return "".join([*parts, line[done:]]), place


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
