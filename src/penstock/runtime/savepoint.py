"""Savepoints: the whole state of a job at one epoch, by operator uid, in files that need nothing else to be read.

Every subtask writes a part while its epoch ends; the driver writes `_metadata` when all parts are there. A directory
without `_metadata` is no savepoint. The format knows neither state backends nor parallelism: an operator's tables are
written in pieces of some thousand entries, so that neither side needs the whole of them in memory.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import secrets
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from penstock.common.errors import JobExecutionError
from penstock.runtime.pickling import dumps, loads

FORMAT_VERSION = 2
METADATA = "_metadata"
_CHECKPOINT = re.compile(r"chk-(\d+)")
_NOT_WRITTEN: dict[str, Any] = {"path": None, "passed_over": ()}
_FRAME = struct.Struct("<IQ")  # bytes of the label, bytes of the content
_READ_BYTES = 1 << 20


class Label(NamedTuple):
    """What a piece of a part is: some entries of a table, or (without a table) the rest of an operator's state."""

    uid: str
    table: str | None = None


class TablePiece(NamedTuple):
    """Entries of one table, as a full delta of it."""

    subtask: int
    table: str
    schema: Any  # a StateSchema
    entries: dict[Any, Any]


@dataclass(frozen=True)
class SavepointPart:
    """One file: the states of the operators of one subtask of one level."""

    name: str
    level: int
    subtask: int
    bytes: int
    sha256: str
    operators: tuple[str, ...] = ()


@dataclass(frozen=True)
class SavedState:
    """The name of a state, and its kind and declared type as a StateSchema writes them."""

    name: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class SavedOperator:
    uid: str
    name: str
    kind: str
    parallelism: int
    max_parallelism: int
    states: tuple[SavedState, ...] = ()
    window_sizes: dict[str, int] = field(default_factory=dict)  # by table: how long what it knows by its start is


@dataclass(frozen=True)
class Savepoint:
    """The content of `_metadata`."""

    path: str
    job_id: str
    job_name: str
    epoch: int
    positions: dict[str, Any]  # by uid of the source
    source_states: dict[str, str]  # what sources keep on the driver, pickled, as hexadecimal text
    operators: tuple[SavedOperator, ...]
    parts: tuple[SavepointPart, ...]
    number: int | None = None  # of a checkpoint, so that one is not taken for another
    version: int = FORMAT_VERSION
    passed_over: tuple[str, ...] = ()  # what is wrong with newer checkpoints, in whose place this one is used

    def operator(self, uid: str) -> SavedOperator | None:
        return next((operator for operator in self.operators if operator.uid == uid), None)

    def states_of(self, uid: str) -> list[tuple[int, Any]]:
        """The operator's state, without its tables, from each subtask that had one."""
        return [
            (part.subtask, loads(content))
            for part, label, content in self._pieces_of(uid, tables=False)
            if label.table is None
        ]

    def tables_of(self, uid: str) -> Iterator[TablePiece]:
        """The operator's tables of all subtasks, piece by piece."""
        for part, label, content in self._pieces_of(uid, tables=True):
            if label.table is not None:
                yield TablePiece(part.subtask, label.table, *loads(content))

    def _pieces_of(self, uid: str, tables: bool) -> Iterator[tuple[SavepointPart, Label, bytes]]:
        for part in self.parts:
            if uid in part.operators:
                for label, content in _read_pieces(
                    self.path, part, lambda label: label.uid == uid and (label.table is not None) == tables
                ):
                    yield part, label, content

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)


def checkpoint_number(path: str | Path) -> int | None:
    """N of a directory `chk-N`; None for other names, such as those of savepoints."""
    found = _CHECKPOINT.fullmatch(os.path.basename(os.path.normpath(path)))
    return None if found is None else int(found[1])


def new_savepoint_directory(parent: str, job_id: str) -> str:
    return os.path.join(parent, f"savepoint-{job_id[:6]}-{secrets.token_hex(6)}")


def write_part(
    directory: str,
    level: int,
    subtask: int,
    pieces: Iterable[tuple[Label, Any]],
    count: Callable[[Label, int], None] = lambda _label, _size: None,
) -> SavepointPart:
    """Called by the subtask; several attempts of it write the same name, the last complete one counts.

    `count` is told the size of every piece before it is written, and may raise.
    """
    name = f"level-{level}-subtask-{subtask}"
    os.makedirs(directory, exist_ok=True)
    digest, size, uids = hashlib.sha256(), 0, dict[str, None]()
    with _durable_file(Path(directory) / name) as file:
        for label, piece in pieces:
            uids[label.uid] = None
            header, content = dumps(tuple(label)), dumps(piece)
            count(label, len(content))
            for block in (_FRAME.pack(len(header), len(content)), header, content):
                file.write(block)
                digest.update(block)
                size += len(block)
    return SavepointPart(name, level, subtask, size, digest.hexdigest(), tuple(uids))


def write_metadata(savepoint: Savepoint) -> None:
    body = json.dumps(asdict(savepoint) | _NOT_WRITTEN, indent=1, sort_keys=True)
    document = {"sha256": hashlib.sha256(body.encode()).hexdigest(), "savepoint": json.loads(body)}
    _write_durably(Path(savepoint.path) / METADATA, json.dumps(document, indent=1, sort_keys=True).encode())


def _write_durably(path: Path, content: bytes) -> None:
    with _durable_file(path) as file:
        file.write(content)


@contextlib.contextmanager
def _durable_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that has its name only when all of it is on the disk."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "wb") as file:
            yield file
            _bring_to_disk(file, path)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _bring_to_disk(file: IO[bytes], path: Path) -> None:
    file.flush()
    os.fsync(file.fileno())


def open_savepoint(path: str) -> Savepoint:
    """Reads and checks a savepoint completely, before anything is done with it."""
    savepoint = _read_metadata(path)
    for part in savepoint.parts:
        _check_part(path, part)
    return savepoint


def _read_metadata(path: str) -> Savepoint:
    file = Path(path) / METADATA
    try:
        document = json.loads(file.read_text())
        saved = document["savepoint"]
        body = json.dumps(saved, indent=1, sort_keys=True)
        if hashlib.sha256(body.encode()).hexdigest() != document["sha256"]:
            raise ValueError("its checksum does not match")
        if saved["version"] != FORMAT_VERSION:
            raise ValueError(f"it has format {saved['version']}, this version reads {FORMAT_VERSION}")
        operators = tuple(
            SavedOperator(**{**operator, "states": tuple(SavedState(**state) for state in operator["states"])})
            for operator in saved["operators"]
        )
        parts = tuple(SavepointPart(**{**part, "operators": tuple(part["operators"])}) for part in saved["parts"])
        return Savepoint(**{**saved, "path": path, "operators": operators, "parts": parts})
    except FileNotFoundError:
        raise JobExecutionError(
            f"{path!r} is no savepoint: there is no {METADATA} file in it; give the directory savepoint-… or chk-…"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {METADATA} cannot be used, {error}") from error


def _check_part(path: str, part: SavepointPart) -> None:
    """Reads a part completely, before anything of it is used."""
    digest, size = hashlib.sha256(), 0
    try:
        with open(Path(path) / part.name, "rb") as file:
            while block := file.read(_READ_BYTES):
                digest.update(block)
                size += len(block)
    except OSError as error:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {part.name} cannot be read, {error}") from error
    if size != part.bytes or digest.hexdigest() != part.sha256:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {part.name} is not what was written")


@functools.lru_cache(maxsize=64)
def _check_once(path: str, part: SavepointPart) -> None:
    _check_part(path, part)


def _read_pieces(path: str, part: SavepointPart, wanted: Callable[[Label], bool]) -> Iterator[tuple[Label, bytes]]:
    _check_once(path, part)
    with open(Path(path) / part.name, "rb") as file:
        while frame := file.read(_FRAME.size):
            header, content = _FRAME.unpack(frame)
            label = Label(*loads(file.read(header)))
            if wanted(label):
                yield label, file.read(content)
            else:
                file.seek(content, os.SEEK_CUR)
