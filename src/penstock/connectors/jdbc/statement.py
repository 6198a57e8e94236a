"""A statement with `?` for its parameters, as JDBC has them, and what an INSERT says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_IDENTIFIER = r'(?:"[^"]+"|`[^`]+`|\w+)'
_NAME = rf"{_IDENTIFIER}(?:\s*\.\s*{_IDENTIFIER})*"
_INSERT = re.compile(
    rf"\s*INSERT\s+INTO\s+(?P<table>{_NAME})\s*(?:\((?P<columns>[^()]*)\)\s*)?"
    r"VALUES\s*\(\s*\?(?:\s*,\s*\?)*\s*\)\s*(?P<tail>.*?)\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
# What a question mark does not count in: texts, quoted names, comments.
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL)


def without_line_comments(text: str) -> str:
    """A statement that others are put behind."""
    return _QUOTED.sub(lambda found: " " if found[0].startswith("--") else found[0], text)


@dataclass(frozen=True)
class Insert:
    """``INSERT INTO table (columns) VALUES (?, ...) tail``: rows of it can be loaded in bulk."""

    table: str
    columns: tuple[str, ...] | None  # None: those of the table
    tail: str


@dataclass(frozen=True)
class Statement:
    """The text between the question marks."""

    pieces: tuple[str, ...]

    @staticmethod
    def parse(text: str) -> Statement:
        pieces, start, at = [], 0, 0
        while at < len(text):
            quoted = _QUOTED.match(text, at)
            if quoted is not None:
                at = quoted.end()
                continue
            if text[at] == "?":
                pieces.append(text[start:at])
                start = at + 1
            at += 1
        return Statement((*pieces, text[start:]))

    @property
    def parameters(self) -> int:
        return len(self.pieces) - 1

    def with_marks(self, mark: str) -> str:
        """The text for a driver whose marks are these; one that formats needs its per cent signs doubled."""
        pieces = [piece.replace("%", "%%") for piece in self.pieces] if "%" in mark else self.pieces
        return mark.join(pieces)

    def with_values(self, values: list[str]) -> str:
        """The text with an expression in the place of each question mark."""
        joined = [piece + value for piece, value in zip(self.pieces, [*values, ""], strict=True)]
        return "".join(joined)

    @cached_property
    def insert(self) -> Insert | None:
        found = _INSERT.fullmatch("?".join(self.pieces))
        if found is None or "?" in found["tail"]:
            return None
        columns = found["columns"]
        names = None if columns is None else tuple(name.strip() for name in columns.split(","))
        return Insert(found["table"], names, found["tail"])
