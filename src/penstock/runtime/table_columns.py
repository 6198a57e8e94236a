"""The entries of a state table as Arrow columns, in a stream that says itself what it holds.

`key` has the type that all keys have (numbers, text, tuples of these), `value` the one that the program has declared,
and a state with time to live has the column `moment`. What does not fit exactly (an untyped state, a value that is not
what was declared) is pickled into `key_pickled` and `value_pickled`; each row has either the one or the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa

from penstock.runtime.arrow_columns import Column, column_for
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.state_schema import StateSchema
from penstock.runtime.type_description import UNTYPED, described_type

_METADATA = b"penstock.state"
_KEY_TYPES = {int: "LONG", str: "STRING"}


class _Pair:
    """A column of a type, and beside it one for what does not fit into it."""

    def __init__(self, name: str, description: Any) -> None:
        self.name = name
        self.description = description
        type_info = None if description == UNTYPED else described_type(description)
        self._column: Column | None = None if type_info is None else column_for(type_info)
        typed = pa.null() if self._column is None else self._column.encode([]).type
        self.fields = [pa.field(name, typed), pa.field(f"{name}_pickled", pa.binary())]

    def encode(self, values: Sequence[Any]) -> list[pa.Array]:
        encoded = None if self._column is None else self._exact(values)
        if encoded is not None:
            return [encoded, pa.nulls(len(values), pa.binary())]
        return [pa.nulls(len(values), self.fields[0].type), pa.array(map(dumps, values), pa.binary())]

    def _exact(self, values: Sequence[Any]) -> pa.Array | None:
        """None when something would come back as something else."""
        assert self._column is not None
        try:
            encoded = self._column.encode(values)
            same = all(map(_same, self._column.decode(encoded), values))
        except Exception:
            return None
        return encoded if same else None

    def decode(self, typed: pa.Array, pickled: pa.Array) -> list[Any]:
        if self._column is None or pickled.null_count == 0:
            return [loads(content) for content in pickled.to_pylist()]
        return self._column.decode(typed)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


class TableColumns:
    """Encodes the pieces of one table; the types of its keys are those of the first piece."""

    def __init__(self, schema: StateSchema, entries: dict[Any, Any]) -> None:
        self._schema = schema
        keys = list(entries)
        self._key = _Pair("key", _key_description(keys))
        self._pairs = [self._key, _Pair("value", _value_description(schema))]
        fields = [field for pair in self._pairs for field in pair.fields]
        if schema.ttl is not None:
            fields.append(pa.field("moment", pa.list_(pa.int64())))
        about = {"schema": schema.to_json(), "key": self._key.description}
        self.arrow_schema = pa.schema(fields, {_METADATA: json.dumps(about).encode()})

    def encode(self, entries: dict[Any, Any]) -> pa.RecordBatch:
        values, moments = _apart(self._schema, list(entries.values()))
        arrays = self._pairs[0].encode(list(entries)) + self._pairs[1].encode(values)
        if moments is not None:
            arrays.append(pa.array(moments, pa.list_(pa.int64())))
        return pa.RecordBatch.from_arrays(arrays, schema=self.arrow_schema)


def read_table(file: IO[bytes]) -> Iterator[tuple[StateSchema, dict[Any, Any]]]:
    """The pieces of a table that TableColumns has encoded."""
    with pa.ipc.open_stream(file) as stream:
        about = json.loads(stream.schema.metadata[_METADATA])
        schema = StateSchema.from_json(about["schema"])
        key, value = _Pair("key", about["key"]), _Pair("value", _value_description(schema))
        for batch in stream:
            keys = key.decode(batch.column(0), batch.column(1))
            values = value.decode(batch.column(2), batch.column(3))
            moments = batch.column(4).to_pylist() if schema.ttl is not None else None
            yield schema, dict(zip(keys, _together(schema, values, moments), strict=True))


def _key_description(keys: Sequence[Any]) -> Any:
    kinds = set(map(type, keys))
    if kinds == {tuple} and len(set(map(len, keys))) == 1:
        return {"type": "TUPLE", "fields": [_key_description(field) for field in zip(*keys, strict=True)]}
    return _KEY_TYPES.get(kinds.pop(), UNTYPED) if len(kinds) == 1 else UNTYPED


def _value_description(schema: StateSchema) -> Any:
    described = json.loads(schema.type)
    if described == UNTYPED or schema.holds_maps():
        return described
    return {"type": "LIST", "element": described} if schema.holds_lists() else described


def _apart(schema: StateSchema, entries: list[Any]) -> tuple[list[Any], list[list[int]] | None]:
    """Contents, and with a time to live the moments from which it counts, in the order of each content."""
    if schema.holds_lists() or schema.holds_maps():
        entries = [content for _, content in entries]
    if schema.ttl is None:
        return entries, None
    if schema.holds_lists():
        return [[v for v, _ in items] for items in entries], [[m for _, m in items] for items in entries]
    if schema.holds_maps():
        values = [{key: value for key, (value, _) in content.items()} for content in entries]
        return values, [[moment for _, moment in content.values()] for content in entries]
    return [value for value, _ in entries], [[moment] for _, moment in entries]


def _together(schema: StateSchema, contents: list[Any], moments: list[list[int]] | None) -> list[Any]:
    if moments is not None:
        if schema.holds_lists():
            contents = [list(zip(*both, strict=True)) for both in zip(contents, moments, strict=True)]
        elif schema.holds_maps():
            contents = [
                {key: (value, moment) for (key, value), moment in zip(content.items(), of, strict=True)}
                for content, of in zip(contents, moments, strict=True)
            ]
        else:
            contents = [(value, of[0]) for value, of in zip(contents, moments, strict=True)]
    replaces = schema.holds_lists() or schema.holds_maps()
    return [(True, content) for content in contents] if replaces else contents
