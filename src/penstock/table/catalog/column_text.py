"""Expressions of computed columns and watermarks as Flink shows them: names of columns in backticks."""

from __future__ import annotations

from penstock.table.catalog.object_names import quoted
from penstock.table.sql.dialect import words
from penstock.table.sql.words import Kind


def with_quoted_names(text: str, names: list[str]) -> str:
    """
    >>> with_quoted_names("ts - INTERVAL '5' SECOND", ["ts"])
    "`ts` - INTERVAL '5' SECOND"
    """
    found, end = "", 0
    for word in words(text):
        if word.kind is Kind.WORD and word.text in names:
            found += text[end : word.start] + quoted(word.text)
            end = word.start + len(word.text)
    return found + text[end:]
