"""The messages of PostgreSQL's logical replication (plugin pgoutput, protocol 1), from their bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

Value = bytes | None | bool  # text; NULL; UNCHANGED
Values = list[Value]
UNCHANGED: Final = False  # a large value that an update has left alone: the log does not repeat it


@dataclass(frozen=True)
class Begin:
    final_lsn: int  # of the commit
    xid: int  # 32 bits


@dataclass(frozen=True)
class Commit:
    lsn: int
    end_lsn: int


@dataclass(frozen=True)
class Column:
    name: str
    type_oid: int
    in_key: bool


@dataclass(frozen=True)
class Relation:
    oid: int
    schema: str
    name: str
    identity: str  # d: its primary key, f: all columns, i: an index, n: nothing
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Insert:
    relation: int
    new: Values


@dataclass(frozen=True)
class Update:
    relation: int
    old: Values | None
    new: Values
    key_only: bool = False  # what the log has of the old row: the other columns are None


@dataclass(frozen=True)
class Delete:
    relation: int
    old: Values
    key_only: bool = False


@dataclass(frozen=True)
class Truncate:
    relations: tuple[int, ...]


Message = Begin | Commit | Relation | Insert | Update | Delete | Truncate


def decode(data: bytes) -> Message | None:
    """None for messages that say nothing about rows (types, origins)."""
    kind, reader = data[:1], _Reader(data, 1)
    if kind == b"B":
        final_lsn, _, xid = reader.unpack(">qqI")
        return Begin(final_lsn, xid)
    if kind == b"C":
        _, lsn, end_lsn, _ = reader.unpack(">bqqq")
        return Commit(lsn, end_lsn)
    if kind == b"R":
        return _relation(reader)
    if kind == b"I":
        (relation, _) = reader.unpack(">Ic")
        return Insert(relation, reader.values())
    if kind == b"U":
        relation, what = reader.unpack(">Ic")
        old = None
        if what in (b"K", b"O"):
            old = reader.values()
            reader.unpack(">c")
        return Update(relation, old, reader.values(), what == b"K")
    if kind == b"D":
        (relation, what) = reader.unpack(">Ic")
        return Delete(relation, reader.values(), what == b"K")
    if kind == b"T":
        count, _ = reader.unpack(">Ib")
        return Truncate(reader.unpack(f">{count}I"))
    return None


def _relation(reader: _Reader) -> Relation:
    (oid,) = reader.unpack(">I")
    schema, name = reader.text(), reader.text()
    identity, count = reader.unpack(">ch")
    columns = []
    for _ in range(count):
        (flags,) = reader.unpack(">b")
        column = reader.text()
        type_oid, _ = reader.unpack(">Ii")
        columns.append(Column(column, type_oid, bool(flags & 1)))
    return Relation(oid, schema or "pg_catalog", name, identity.decode(), tuple(columns))


class _Reader:
    """Goes through the bytes of one message."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def unpack(self, layout: str) -> tuple:  # type: ignore[type-arg]
        values = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return values

    def text(self) -> str:
        end = self._data.index(b"\0", self._at)
        text = self._data[self._at : end].decode()
        self._at = end + 1
        return text

    def values(self) -> Values:
        data, at = self._data, self._at
        (count,) = struct.unpack_from(">h", data, at)
        at += 2
        values: Values = []
        for _ in range(count):
            kind = data[at]
            at += 1
            if kind == 0x74:  # t: text
                (length,) = struct.unpack_from(">i", data, at)
                at += 4
                values.append(data[at : at + length])
                at += length
            else:  # n: NULL, u: unchanged
                values.append(None if kind == 0x6E else UNCHANGED)
        self._at = at
        return values
