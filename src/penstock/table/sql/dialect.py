"""The `flink` dialect of sqlglot: its tokens, and a parser that reads Flink's own grammar from them.

sqlglot's grammar is the union of many dialects and accepts much that Flink refuses, and its tree has no positions.
So only the tokenizer and the dialect's frame are used; the productions are in the modules beside this one.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from penstock.common.credentials import mentions_credentials
from penstock.table.sql.errors import SqlParseError
from penstock.table.sql.statement_grammar import StatementGrammar
from penstock.table.sql.statements import Statement
from penstock.table.sql.words import Word, words_of
from penstock.table.syntax.expressions import Expr
from penstock.table.syntax.position import Position
from penstock.table.syntax.queries import Query


class FlinkTokenizer(tokens.Tokenizer):
    """All words are plain: whether one is a keyword depends on where it stands."""

    QUOTES: ClassVar[list[Any]] = ["'"]
    IDENTIFIERS: ClassVar[list[Any]] = ["`"]
    STRING_ESCAPES: ClassVar[list[str]] = ["'"]
    IDENTIFIER_ESCAPES: ClassVar[list[str]] = ["`"]
    HEX_STRINGS: ClassVar[list[Any]] = [("x'", "'"), ("X'", "'")]
    UNICODE_STRINGS: ClassVar[list[Any]] = [("U&'", "'"), ("u&'", "'")]
    NATIONAL_STRINGS: ClassVar[list[Any]] = [("N'", "'"), ("n'", "'")]
    COMMENTS: ClassVar[list[Any]] = ["--", ("/*", "*/")]
    COMMANDS: ClassVar[set[TokenType]] = set()
    # A hint may follow SELECT or the name of a table; sqlglot takes it for a comment elsewhere.
    TOKENS_PRECEDING_HINT: ClassVar[set[TokenType]] = {TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN}
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        "/*+": TokenType.HINT,
        "<>": TokenType.NEQ,
        "!=": TokenType.NEQ,
        "<=": TokenType.LTE,
        ">=": TokenType.GTE,
        "||": TokenType.DPIPE,
        "=>": TokenType.FARROW,
    }


class FlinkParser(parser.Parser):
    """Statements instead of sqlglot's tree."""

    def parse(self, raw_tokens: list[Token], sql: str) -> list[Any]:
        return list(StatementGrammar(words_of(raw_tokens, sql, _tokens), sql).statements())


class Flink(Dialect):
    """Registered with sqlglot as `flink`."""

    Tokenizer = FlinkTokenizer
    Parser = FlinkParser


def _tokens(sql: str) -> list[Token]:
    return FlinkTokenizer(dialect=Flink).tokenize(sql)


def words(sql: str) -> list[Word]:
    try:
        return words_of(_tokens(sql), sql, _tokens)
    except TokenError as error:
        where = "" if mentions_credentials(sql) else f": {error}"
        raise SqlParseError(f"A quote or a comment is opened and not closed{where}", Position(1, 1), sql) from None


def parse_statements(sql: str) -> list[Statement]:
    """The statements of a script, which are separated by semicolons.

    >>> [type(statement).__name__ for statement in parse_statements("USE CATALOG c; SHOW TABLES")]
    ['UseCatalog', 'Show']
    """
    return list(StatementGrammar(words(sql), sql).statements())


def parse_statement(sql: str) -> Statement:
    """The only statement of a text; a semicolon may follow."""
    found = parse_statements(sql)
    if len(found) != 1:
        raise SqlParseError(
            f"Expected one statement, found {len(found)}: hand them over one by one", Position(1, 1), sql
        )
    return found[0]


def parse_query(sql: str) -> Query:
    grammar = StatementGrammar(words(sql), sql)
    query = grammar.query()
    grammar.skip_semicolons()
    grammar.expect_end()
    return query


def parse_expression(sql: str) -> Expr:
    grammar = StatementGrammar(words(sql), sql)
    expression = grammar.expression()
    grammar.expect_end()
    return expression


def parse_path(text: str) -> tuple[str, ...]:
    """The parts of a name such as `db.t`, where backticks may surround a part."""
    grammar = StatementGrammar(words(text), text)
    path = grammar.path("a name")
    grammar.expect_end()
    return tuple(path)
