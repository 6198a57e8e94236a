"""The words of a SQL text: sqlglot's tokens, brought down to what Flink's grammar asks for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from sqlglot.tokenizer_core import Token, TokenType

from penstock.table.syntax.position import Position


class Kind(Enum):
    WORD = "word"
    NAME = "name"  # in backticks
    TEXT = "text"
    BYTES = "bytes"
    NUMBER = "number"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True)
class Word:
    """text is what stands inside quotes, or the word as written; upper is for comparing with keywords."""

    kind: Kind
    text: str
    start: int
    end: int
    position: Position
    upper: str = ""

    def shown(self) -> str:
        if self.kind is Kind.END:
            return "the end of the statement"
        return f"'{self.text}'" if self.kind is not Kind.TEXT else f"the text '{self.text}'"


_KINDS = {
    TokenType.IDENTIFIER: Kind.NAME,
    TokenType.STRING: Kind.TEXT,
    TokenType.NATIONAL_STRING: Kind.TEXT,
    TokenType.UNICODE_STRING: Kind.TEXT,
    TokenType.HEX_STRING: Kind.BYTES,
    TokenType.NUMBER: Kind.NUMBER,
}
_LINE_COMMENT = re.compile(r"--[^\n]*")


def words_of(tokens: Sequence[Token], sql: str, tokenize: Callable[[str], Sequence[Token]]) -> list[Word]:
    """With positions counted from the offsets, since tokens tell only where they end."""
    line_starts = [0, *(match.end() for match in re.finditer("\n", sql))]

    def place(offset: int) -> Position:
        line = bisect_right(line_starts, offset)
        return Position(line, offset - line_starts[line - 1] + 1)

    found: list[Word] = []
    for token in tokens:
        if token.token_type == TokenType.HINT:
            # The tokenizer hands over a hint as one token.
            start, stop = token.start + 3, token.end - 1
            found.append(Word(Kind.SIGN, "/*+", token.start, start, place(token.start), "/*+"))
            found.extend(_word(inner, sql, place(start + inner.start), start) for inner in tokenize(sql[start:stop]))
            found.append(Word(Kind.SIGN, "*/", stop, stop + 2, place(stop), "*/"))
        else:
            found.append(_word(token, sql, place(token.start)))
    end = len(_LINE_COMMENT.sub(lambda match: " " * len(match.group()), sql).rstrip())
    return [*found, Word(Kind.END, "", end, end, place(end))]


def _word(token: Token, sql: str, position: Position, offset: int = 0) -> Word:
    kind = _KINDS.get(token.token_type)
    start, end = offset + token.start, offset + token.end + 1
    written = sql[start:end]
    if kind is None:
        kind = Kind.WORD if written[:1].isalpha() or written[:1] in "_$" else Kind.SIGN
        return Word(kind, written, start, end, position, written.upper())
    text = token.text
    if token.token_type == TokenType.UNICODE_STRING:
        text = _unescape(text)
    return Word(kind, text, start, end, position)


def _unescape(text: str) -> str:
    r"""`\00e4` in U&'..' stands for the character of that number."""
    return re.sub(r"\\(\\|\+[0-9a-fA-F]{6}|[0-9a-fA-F]{4})", _character, text)


def _character(match: re.Match[str]) -> str:
    return "\\" if match.group(1) == "\\" else chr(int(match.group(1).lstrip("+"), 16))
