"""Cuts a script into its statements, at semicolons that are not inside quotes, comments or a statement set."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PIECES = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|;|'|`|/\*", re.DOTALL)


@dataclass(frozen=True)
class Cut:
    """The complete statements of a text with the line on which each begins, and what is left."""

    statements: list[tuple[str, int]]
    rest: str


def cut(text: str) -> Cut:
    """
    >>> cut("SELECT ';'; SHOW TABLES").statements
    [("SELECT ';'", 1)]
    """
    found: list[tuple[str, int]] = []
    start = 0
    for piece in _PIECES.finditer(text):
        if piece[0] in ("'", "`", "/*"):
            break  # opened and not closed: the rest belongs to it
        if piece[0] == ";":
            statement = text[start : piece.start()]
            if _inside_set(statement):
                continue
            if without_comments(statement):
                found.append((statement.strip(), _line_of(text, start)))
            start = piece.end()
    return Cut(found, text[start:])


def without_comments(text: str) -> str:
    """What is left of a text besides comments and blanks; hints are no comments."""
    kept = [
        "" if piece.startswith("--") or (piece.startswith("/*") and not piece.startswith("/*+")) else piece
        for piece in re.split(r"('(?:[^']|'')*'|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/)", text, flags=re.DOTALL)
    ]
    return "".join(kept).strip()


def _line_of(text: str, start: int) -> int:
    blank = len(text[start:]) - len(text[start:].lstrip())
    return text.count("\n", 0, start + blank) + 1


def _inside_set(statement: str) -> bool:
    """EXECUTE STATEMENT SET BEGIN ..; ..; END is one statement."""
    words = without_comments(statement).upper().split()
    return words[:4] == ["EXECUTE", "STATEMENT", "SET", "BEGIN"] and words[-1:] != ["END"]
