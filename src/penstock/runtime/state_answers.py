"""Looks into the tables of an operator subtask for what was asked about its state."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from penstock.runtime.key_layout import KeyLayout, owned_entries
from penstock.runtime.operator_content import has_windows
from penstock.runtime.operators.base import Operator
from penstock.runtime.state.table import ListTable, MapTable, ValueTable
from penstock.runtime.state_questions import PartialAnswer, StateEntry, StateFacts, StateQuestion
from penstock.runtime.state_rows import StateRow, content_of_entry, rows_of_table
from penstock.runtime.state_schema import StateSchema
from penstock.runtime.vitals import StateSizes

_LARGEST_ANSWER = 8 << 20
_FOUND_BY_KEY = (ValueTable, ListTable, MapTable)  # as are those of their kind on disk


def answered(operator: Operator, subtask: int, question: StateQuestion) -> PartialAnswer:
    """Right after a snapshot, when tables have no changes beside them."""
    sizes = StateSizes().of(operator.memory) if question.state is None else {}
    states = tuple(
        _facts(operator, name, schema, sizes.get(name))
        for name, schema in operator.memory.schemas().items()
        if question.state in (None, name)
    )
    if question.state is None or not states:
        return PartialAnswer(states)
    entries = tuple(islice(_entries(operator, subtask, question), question.limit + 1))
    if sum(len(str(entry)) for entry in entries) > _LARGEST_ANSWER:
        return PartialAnswer(refusal=f"the answer has more than {_LARGEST_ANSWER} bytes: ask for one key, or for less")
    return PartialAnswer(states, entries)


def _facts(operator: Operator, name: str, schema: StateSchema, size: tuple[int, int] | None) -> StateFacts:
    about = operator.blueprint
    return StateFacts(about.uid, about.name, name, schema.kind, schema.type_text(), *(size or ()))


def _entries(operator: Operator, subtask: int, question: StateQuestion) -> Iterator[StateEntry]:
    for row in _rows(operator, subtask, question):
        yield StateEntry(plain(row.key), plain(row.namespace), plain(row.value))


def _rows(operator: Operator, subtask: int, question: StateQuestion) -> Iterator[StateRow]:
    keyed, windows = operator.memory.keyed, has_windows(operator.blueprint.kind)
    for name, table in keyed.tables():
        if name == question.state:
            schema, layout = keyed.schema_of(name), keyed.layout_of(name)
            found = _looked_up(table, schema, layout, question.key)
            for piece in table.pieces(question.limit + 1) if found is None else [found]:
                yield from rows_of_table(layout, windows, schema, _of_key(piece, layout, question.key))
    for name, (schema, delta) in (operator.memory.unkeyed.full_delta() or {}).items():
        if name == question.state:
            yield from (StateRow(None, subtask, content_of_entry(schema, entry)) for entry in delta.values())


def _looked_up(table: Any, schema: StateSchema, layout: KeyLayout, key: str | None) -> dict[Any, Any] | None:
    """The entry of a key that is a plain value, without looking at all others; None when that is not possible."""
    meanings = None if key is None else list(_meanings(key))
    if layout is not KeyLayout.KEY or not meanings or not isinstance(table, _FOUND_BY_KEY):
        return None
    held = {meaning: table.get(meaning) for meaning in meanings}
    several = schema.holds_lists() or schema.holds_maps()
    return {meaning: (True, value) if several else value for meaning, value in held.items() if value is not None}


def _meanings(text: str) -> Iterator[Any]:
    """Plain keys that the text may stand for; none if it may also be how Python prints something else."""
    values: list[Any] = []
    for read in (json.loads, ast.literal_eval):
        with contextlib.suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            values.append(_hashable(read(text)))
    if values or text.isidentifier():
        yield from (text, *values)


def _hashable(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_hashable(item) for item in value)
    hash(value)
    return value


def _of_key(entries: dict[Any, Any], layout: KeyLayout, key: str | None) -> dict[Any, Any]:
    return entries if key is None else owned_entries(entries, layout, lambda own: is_key(own, key))


def is_key(key: Any, text: str) -> bool:
    """Whether the text means the key: as JSON, as Python writes it, or as it is printed."""
    if text in (str(key), repr(key)):
        return True
    try:
        return bool(json.loads(text) == plain(key))
    except ValueError:
        return False


def plain(value: Any) -> Any:
    """As JSON; what it does not know, as Python writes it."""
    if isinstance(value, dict):
        return {name if isinstance(name, str) else repr(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)
