"""The prompt: history, completion, and statements of several lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings

from penstock.cli.sql.client import Leave, SqlClient, print_error
from penstock.cli.sql.statement_text import cut, without_comments
from penstock.columns.functions.registry import sql_names
from penstock.common.errors import PenstockError
from penstock.table.sql.reserved import RESERVED_WORDS

_COMMANDS = ("HELP", "QUIT", "EXIT", "CLEAR")
# What most statements consist of is offered before words that few know.
_FREQUENT = (
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "ORDER", "INSERT", "INTO", "VALUES", "CREATE", "TABLE", "TABLES", "WITH",
    "SET", "SHOW", "DESCRIBE", "EXPLAIN", "DROP", "JOIN", "LEFT", "LIMIT", "COUNT", "SUM", "HAVING", "AS", "AND",
)  # fmt: skip
_MORE_WORDS = (
    "SHOW", "TABLES", "VIEWS", "CATALOGS", "DATABASES", "FUNCTIONS", "USE", "CATALOG", "DATABASE", "TEMPORARY",
    "CONNECTOR", "WATERMARK", "METADATA", "VIRTUAL", "STATEMENT", "EXECUTE", "VIEW", "IF", "OVERWRITE",
)  # fmt: skip


def talk(client: SqlClient, history: Path) -> None:
    """Reads and runs statements until somebody leaves."""
    history.parent.mkdir(parents=True, exist_ok=True)
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        completer=SqlCompleter(client),
        complete_while_typing=False,
        key_bindings=_keys(),
        multiline=True,
        prompt_continuation=lambda width, number, wrapped: " " * (width - 2) + "> ",
    )
    while True:
        try:
            text = session.prompt("Penstock SQL> " if not client.in_statement_set else "  in the set> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            for statement, _ in cut(text if text.rstrip().endswith(";") else text + ";").statements:
                client.run(statement)
        except Leave:
            return
        except (PenstockError, ValueError) as error:
            print_error(error, bool(client._option("sql-client.verbose")))


def _keys() -> KeyBindings:
    """Enter ends a statement that has its semicolon, and begins another line before."""
    bindings = KeyBindings()

    @bindings.add("enter", filter=Condition(lambda: True))
    def _enter(event: Any) -> None:
        buffer = event.current_buffer
        text = buffer.text
        complete = not without_comments(cut(text).rest) or without_comments(text).upper() in _COMMANDS
        if complete or not text.strip():
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


class SqlCompleter(Completer):
    """Keywords and functions, and the tables and columns of the current database."""

    def __init__(self, client: SqlClient) -> None:
        self._client = client

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        word = document.get_word_before_cursor(WORD=False)
        if not word:
            return
        for candidate in self.candidates(word):
            yield Completion(candidate, start_position=-len(word))

    def candidates(self, word: str) -> Iterator[str]:
        """Names as they are written, keywords in the case of what was typed."""
        lowered = word.lower()
        for name in dict.fromkeys(self._names()):
            if name.lower().startswith(lowered):
                yield name
        upper = word == word.upper()
        others = {*RESERVED_WORDS, *_MORE_WORDS, *_COMMANDS, *(name.upper() for name in sql_names())}
        for keyword in dict.fromkeys((*_FREQUENT, *sorted(others))):
            if keyword.lower().startswith(lowered):
                yield keyword if upper else keyword.lower()

    def _names(self) -> Iterator[str]:
        session = self._client.t_env._session
        catalogs = session.catalogs
        yield from catalogs.known_names()
        yield from catalogs.catalogs
        for name in catalogs.known_names():
            table = catalogs.table(catalogs.full_name((name,)))
            if table is not None:
                yield from (column.name for column in table._body.columns)
