"""A place in the words of a statement: looking ahead, taking words, and saying what was expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.type_text import TYPE_NAMES, TypeTextError, TypeToken, read_type
from penstock.common.credentials import mentions_credentials
from penstock.table.sql.errors import SqlParseError, nearest
from penstock.table.sql.reserved import RESERVED_WORDS
from penstock.table.sql.words import Kind, Word
from penstock.table.syntax.position import Position

Item = TypeVar("Item")
_QUOTES = {Kind.NAME: "`", Kind.TEXT: "'", Kind.END: "end", Kind.BYTES: "x"}


class Cursor:
    """Base of all grammars."""

    def __init__(self, words: Sequence[Word], sql: str) -> None:
        self._words = words
        self._index = 0
        self._sql = sql
        self._type_tokens: list[TypeToken] | None = None

    def peek(self, ahead: int = 0) -> Word:
        return self._words[min(self._index + ahead, len(self._words) - 1)]

    @property
    def position(self) -> Position:
        return self.peek().position

    def take(self) -> Word:
        word = self.peek()
        self._index += 1
        return word

    def at(self, *words: str, ahead: int = 0) -> bool:
        """Whether these keywords or signs come next."""
        return all(self.peek(ahead + place).upper == word for place, word in enumerate(words))

    def at_any(self, words: Iterable[str], ahead: int = 0) -> bool:
        found = self.peek(ahead).upper
        return bool(found) and found in words

    def accept(self, *words: str) -> bool:
        if self.at(*words):
            self._index += len(words)
            return True
        return False

    def accept_any(self, words: Iterable[str]) -> str | None:
        return self.take().upper if self.at_any(words) else None

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.failure(f"'{word}'", [word])

    def expect_any(self, words: Sequence[str]) -> str:
        found = self.accept_any(words)
        if found is None:
            raise self.failure(one_of(words), words)
        return found

    def failure(self, expected: str, keywords: Iterable[str] = ()) -> SqlParseError:
        found = self.peek()
        message = f"Expected {expected}, found {self._told(found, expected)}"
        if found.kind is Kind.WORD and found.upper in RESERVED_WORDS and "name" in expected:
            message += f". {found.upper} is a reserved word: write `{found.text}` to use it as a name"
        elif found.kind is Kind.WORD and (near := nearest(found.text, keywords)):
            message += f". Did you mean {near[0]}?"
        return SqlParseError(message, found.position, self._sql)

    def _told(self, found: Word, expected: str) -> str:
        value = found.kind is Kind.TEXT or (found.kind is not Kind.END and expected.startswith("the value of"))
        return "something else" if value and mentions_credentials(self._sql) else found.shown()

    def refuse(self, message: str, position: Position | None = None) -> SqlParseError:
        return SqlParseError(message, position or self.position, self._sql)

    def expect_end(self) -> None:
        if self.peek().kind is not Kind.END:
            raise self.failure("the end of the statement")

    def skip_semicolons(self) -> None:
        while self.accept(";"):
            pass

    def at_name(self, ahead: int = 0) -> bool:
        word = self.peek(ahead)
        return word.kind is Kind.NAME or (word.kind is Kind.WORD and word.upper not in RESERVED_WORDS)

    def name(self, what: str = "a name") -> str:
        if not self.at_name():
            raise self.failure(what)
        return self.take().text

    def path(self, what: str = "a name") -> tuple[str, ...]:
        """A name with its catalog and database in front, if given."""
        parts = [self.name(what)]
        while self.accept("."):
            parts.append(self.name(what))
        return tuple(parts)

    def text(self, what: str = "a text in single quotes") -> str:
        if self.peek().kind is not Kind.TEXT:
            raise self.failure(what)
        return self.take().text

    def whole_number(self, what: str = "a whole number") -> int:
        word = self.peek()
        if word.kind is not Kind.NUMBER or not word.text.isdigit():
            raise self.failure(what)
        return int(self.take().text)

    def list_of(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        items = [item()]
        while self.accept(","):
            items.append(item())
        return tuple(items)

    def in_parentheses(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        self.expect("(")
        items = self.list_of(item)
        self.expect(")")
        return items

    def names_in_parentheses(self, what: str = "the name of a column") -> tuple[str, ...]:
        return self.in_parentheses(lambda: self.name(what))

    def data_type(self) -> DataType:
        if self._type_tokens is None:
            self._type_tokens = [TypeToken(word.text, _QUOTES.get(word.kind, "")) for word in self._words]
        try:
            found, self._index = read_type(self._type_tokens, self._index, in_sql=True)
        except TypeTextError as error:
            self._index = error.index
            expected = str(error).removeprefix("expected ").partition(", found")[0]
            raise self.failure(expected, TYPE_NAMES if expected == "the name of a type" else ()) from None
        return found

    def since(self, start: int) -> str:
        """The text from an earlier index up to here, as written."""
        return self._sql[self._words[start].start : self._words[self._index - 1].end]


def one_of(words: Sequence[str]) -> str:
    listed = [f"'{word}'" for word in words]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
