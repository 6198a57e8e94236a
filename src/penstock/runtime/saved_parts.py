"""What a subtask writes into a savepoint, and reads back: each table as an Arrow stream, all else by name.

Tables are written in pieces of some thousand entries, so that neither side needs the whole of them in memory.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.savepoint import UNNAMED_VERSION, FileWriter, SavedFile, Savepoint, SavepointPart
from penstock.runtime.savepoint_v2 import pieces_of_version_2, snapshot_of_version_2
from penstock.runtime.state_schema import StateSchema
from penstock.runtime.table_columns import TableColumns, read_table
from penstock.runtime.timers import TimerChanges
from penstock.runtime.valve import InputsSnapshot
from penstock.runtime.windows.version_2 import logical_entries, logical_table

Pieces = Iterable[tuple["Label", Any]]
Count = Callable[["Label", int], None]


class Label(NamedTuple):
    """What a piece of a part is: some entries of a table, or (without a table) the rest of an operator's state."""

    uid: str
    table: str | None = None


class TablePiece(NamedTuple):
    """Entries of one table, as a full delta of it."""

    subtask: int
    table: str
    schema: StateSchema
    entries: dict[Any, Any]


# -- writing ---------------------------------------------------------------------------------------------------


def write_part(
    directory: str, level: int, subtask: int, pieces: Pieces, count: Count = lambda _label, _size: None
) -> SavepointPart:
    """Called by the subtask; several attempts of it write the same names, the last complete one counts.

    `count` hears the size of every piece before it is written, and may raise.
    """
    rest: dict[str, bytes] = {}
    files: list[SavedFile] = []
    for label, group in groupby(pieces, key=lambda piece: piece[0]):
        if label.table is None:
            for _, snapshot in group:
                rest[label.uid] = dumps(_named(snapshot))
                count(label, len(rest[label.uid]))
        else:
            files.append(_write_table(directory, label, f"{level}-{subtask}", (piece for _, piece in group), count))
    with FileWriter(directory, f"level-{level}-subtask-{subtask}") as file:
        file.write(pickle.dumps(rest, 5))
    return SavepointPart(level, subtask, (file.saved(tuple(rest), None), *files))


def _write_table(directory: str, label: Label, place: str, pieces: Iterable[Any], count: Count) -> SavedFile:
    assert label.table is not None
    with FileWriter(directory, f"{_name(label.uid)}.{_name(label.table)}.{place}.arrow") as file:
        columns = writer = None
        for schema, entries in pieces:
            if columns is None or writer is None:
                columns = TableColumns(schema, entries)
                writer = pa.ipc.new_stream(pa.PythonFile(file, mode="w"), columns.arrow_schema)
            batch = columns.encode(entries)
            count(label, batch.nbytes)
            writer.write_batch(batch)
        if writer is not None:
            writer.close()
    return file.saved((label.uid,), label.table)


def _name(text: str) -> str:
    """A file name that people recognise; the digest keeps those apart that look the same."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", text)[:60]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _named(snapshot: OperatorSnapshot) -> dict[str, Any]:
    """Plain values by name: no class of ours is in a savepoint, so that all of them may change."""
    timers = snapshot.timers or TimerChanges()
    return {
        "watermark": snapshot.watermark,
        "input_watermark": None if snapshot.inputs is None else snapshot.inputs.watermark,
        "attributes": snapshot.attributes,
        "operator_state": {
            name: (schema.to_json(), entries) for name, (schema, entries) in (snapshot.operator_state or {}).items()
        },
        "timers": {"event": list(timers.event), "processing": list(timers.processing)},
        "extra": snapshot.extra,
    }


# -- reading ---------------------------------------------------------------------------------------------------


def snapshots_of(savepoint: Savepoint, uid: str) -> dict[int, OperatorSnapshot]:
    """What the operator has saved besides its tables, by subtask."""
    found = (
        (part.subtask, _saved_snapshot(savepoint, file, uid))
        for part, file in savepoint.files_of(uid)
        if file.table is None
    )
    return {subtask: snapshot for subtask, snapshot in found if snapshot is not None}


def _saved_snapshot(savepoint: Savepoint, file: SavedFile, uid: str) -> OperatorSnapshot | None:
    with savepoint.open_file(file) as content:
        if savepoint.version != UNNAMED_VERSION:
            return _snapshot(loads(pickle.load(content)[uid]))
        saved = savepoint.operator(uid)
        assert saved is not None
        for table, load in pieces_of_version_2(content, uid):
            if table is None:
                return snapshot_of_version_2(saved.kind, *load())
        return None  # a part that was written from outside, with nothing but tables


def _snapshot(saved: dict[str, Any]) -> OperatorSnapshot:
    watermark = saved["input_watermark"]
    states = saved["operator_state"]
    return OperatorSnapshot(
        watermark=saved["watermark"],
        inputs=None if watermark is None else InputsSnapshot(watermark),
        attributes=saved["attributes"],
        operator_state={name: (StateSchema.from_json(json), entries) for name, (json, entries) in states.items()},
        timers=TimerChanges(*(dict.fromkeys(saved["timers"][domain], True) for domain in ("event", "processing"))),
        extra=saved["extra"],
    )


def tables_of(savepoint: Savepoint, uid: str) -> Iterator[TablePiece]:
    """The operator's tables of all subtasks, piece by piece."""
    for part, file in savepoint.files_of(uid):
        with savepoint.open_file(file) as content:
            if savepoint.version == UNNAMED_VERSION:
                saved = savepoint.operator(uid)
                for table, load in pieces_of_version_2(content, uid):
                    name = None if table is None else logical_table(table)
                    if table is not None and name is not None and saved is not None:
                        schema, entries = load()
                        piece = logical_entries(table, saved.window_sizes, schema, entries)
                        yield TablePiece(part.subtask, name, *piece)
            elif file.table is not None:
                for schema, entries in read_table(content):
                    yield TablePiece(part.subtask, file.table, schema, entries)
