"""Savepoints: the whole state of a job at one epoch, by operator uid, in files that need nothing else to be read.

Every subtask writes a part while its epoch ends; the driver writes `_metadata` when all parts are there. A directory
without `_metadata` is no savepoint. The format knows neither state backends nor parallelism. This module knows names,
checksums and files; what is in the files is the matter of saved_parts.py, which Spark's planning processes do not load.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from penstock.common.errors import JobExecutionError
from penstock.runtime.snapshot_target import SnapshotKind
from penstock.runtime.windows.version_2 import logical_kind, logical_table
from penstock.storage import storage_at

FORMAT_VERSION = 3
UNNAMED_VERSION = 2  # still read: nested tuples by kind of operator, see savepoint_v2.py
METADATA = "_metadata"
_NOT_WRITTEN: dict[str, Any] = {"path": None, "passed_over": ()}
_READ_BYTES = 1 << 20
_FORMER_KINDS = {"print": "sink", "collect": "sink", "file_sink": "sink"}


@dataclass(frozen=True)
class SavedFile:
    """One file of a savepoint: a table of one operator, or (without a table) what else the operators have saved."""

    name: str
    bytes: int
    sha256: str
    operators: tuple[str, ...]  # their uids
    table: str | None = None


@dataclass(frozen=True)
class SavepointPart:
    """What one subtask of one level has saved."""

    level: int
    subtask: int
    files: tuple[SavedFile, ...]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @property
    def operators(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(uid for file in self.files for uid in file.operators))


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
    window_sizes: dict[str, int] = field(default_factory=dict)  # of version 2, see windows/version_2.py


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
    kind: SnapshotKind = SnapshotKind.SAVEPOINT
    version: int = FORMAT_VERSION
    passed_over: tuple[str, ...] = ()  # what is wrong with newer checkpoints, in whose place this one is used

    def operator(self, uid: str) -> SavedOperator | None:
        return next((operator for operator in self.operators if operator.uid == uid), None)

    def files_of(self, uid: str) -> Iterator[tuple[SavepointPart, SavedFile]]:
        """What the operator has saved, subtask by subtask."""
        for part in self.parts:
            for file in part.files:
                if uid in file.operators:
                    yield part, file

    def open_file(self, file: SavedFile) -> IO[bytes]:
        """Checked completely, once per process."""
        _check_once(self.path, file)
        return storage_at(self.path).open(file.name)

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)


def new_savepoint_directory(parent: str, job_id: str) -> str:
    return os.path.join(parent, f"savepoint-{job_id[:6]}-{secrets.token_hex(6)}")


class FileWriter:
    """Writes a file of a savepoint, and counts and sums up what it writes."""

    def __init__(self, directory: str, name: str) -> None:
        self._name = name
        self._digest = hashlib.sha256()
        self._bytes = 0
        self._stored = storage_at(directory).writer(name)

    def __enter__(self) -> FileWriter:
        self._file = self._stored.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stored.__exit__(*error)

    def write(self, block: bytes) -> int:
        self._file.write(block)
        self._digest.update(block)
        self._bytes += len(block)
        return len(block)

    def flush(self) -> None:
        """Nothing to do: what is written reaches the disk before the file has its name."""

    closed = False

    def saved(self, operators: tuple[str, ...], table: str | None) -> SavedFile:
        return SavedFile(self._name, self._bytes, self._digest.hexdigest(), operators, table)


def write_metadata(savepoint: Savepoint) -> None:
    body = json.dumps(asdict(savepoint) | _NOT_WRITTEN, indent=1, sort_keys=True)
    document = {"sha256": hashlib.sha256(body.encode()).hexdigest(), "savepoint": json.loads(body)}
    storage_at(savepoint.path).write(METADATA, json.dumps(document, indent=1, sort_keys=True).encode())


def open_savepoint(path: str) -> Savepoint:
    """Reads and checks a savepoint completely, before anything is done with it."""
    savepoint = _read_metadata(path)
    for part in savepoint.parts:
        for file in part.files:
            _check_file(path, file)
    return savepoint


def _read_metadata(path: str) -> Savepoint:
    try:
        document = json.loads(storage_at(path).read(METADATA))
        saved = document["savepoint"]
        body = json.dumps(saved, indent=1, sort_keys=True)
        if hashlib.sha256(body.encode()).hexdigest() != document["sha256"]:
            raise ValueError("its checksum does not match")
        if saved["version"] not in (FORMAT_VERSION, UNNAMED_VERSION):
            raise ValueError(f"it has format {saved['version']}, this version reads up to {FORMAT_VERSION}")
        operators = tuple(map(_operator, saved["operators"]))
        parts = tuple(map(_part, saved["parts"]))
        return Savepoint(**{**saved, "path": path, "operators": operators, "parts": parts, "kind": _kind_of(saved)})
    except (FileNotFoundError, NotADirectoryError):
        raise JobExecutionError(
            f"{path!r} is no savepoint: there is no {METADATA} file in it; give the directory savepoint-… or chk-…"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {METADATA} cannot be used, {error}") from error


def _kind_of(saved: dict[str, Any]) -> SnapshotKind:
    """Older versions did not write it down; only checkpoints had a number."""
    if "kind" in saved:
        return SnapshotKind(saved["kind"])
    return SnapshotKind.SAVEPOINT if saved["number"] is None else SnapshotKind.CHECKPOINT


def _part(saved: dict[str, Any]) -> SavepointPart:
    files = saved.get("files")
    if files is None:  # of version 2, which had one file for everything
        names = ("name", "bytes", "sha256", "operators")
        files = [{name: saved[name] for name in names}]
    return SavepointPart(
        saved["level"],
        saved["subtask"],
        tuple(SavedFile(**{**file, "operators": tuple(file["operators"])}) for file in files),
    )


def _operator(saved: dict[str, Any]) -> SavedOperator:
    """With the kinds and the names of states that it has today."""
    kind = logical_kind(_FORMER_KINDS.get(saved["kind"], saved["kind"]))
    states: dict[str, SavedState] = {}
    for state in saved["states"]:
        name = logical_table(state["name"])
        if name is not None:
            schema = state["schema"] if name == state["name"] else {**state["schema"], "kind": "value"}
            states[f"{schema['kind']} {name}"] = SavedState(name, schema)
    return SavedOperator(**{**saved, "kind": kind, "states": tuple(states.values())})


def _check_file(path: str, saved: SavedFile) -> None:
    """Reads a file completely, before anything of it is used."""
    digest, size = hashlib.sha256(), 0
    try:
        with storage_at(path).open(saved.name) as file:
            while block := file.read(_READ_BYTES):
                digest.update(block)
                size += len(block)
    except OSError as error:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {saved.name} cannot be read, {error}") from error
    if size != saved.bytes or digest.hexdigest() != saved.sha256:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {saved.name} is not what was written")


_check_once = functools.lru_cache(maxsize=1024)(_check_file)
