"""Savepoints: the whole state of a job at one epoch, by operator uid, in files that need nothing else to be read.

Every subtask writes a part while its epoch ends; the driver writes `_metadata` when all parts are there. A directory
without `_metadata` is no savepoint.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.runtime.pickling import dumps, loads

FORMAT_VERSION = 1
METADATA = "_metadata"


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
class SavedOperator:
    uid: str
    name: str
    kind: str
    parallelism: int
    max_parallelism: int


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
    version: int = FORMAT_VERSION

    def operator(self, uid: str) -> SavedOperator | None:
        return next((operator for operator in self.operators if operator.uid == uid), None)

    def states_of(self, uid: str) -> list[tuple[int, Any]]:
        """The operator's state from each subtask that had one."""
        parts = [part for part in self.parts if uid in part.operators]
        return [(part.subtask, loads(_read_part(self.path, part)[uid])) for part in parts]

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)


def new_savepoint_directory(parent: str, job_id: str) -> str:
    return os.path.join(parent, f"savepoint-{job_id[:6]}-{secrets.token_hex(6)}")


def write_part(directory: str, level: int, subtask: int, states: dict[str, Any]) -> SavepointPart:
    """Called by the subtask; several attempts of it write the same name, the last complete one counts."""
    content = dumps({uid: dumps(state) for uid, state in states.items()})
    name = f"level-{level}-subtask-{subtask}"
    os.makedirs(directory, exist_ok=True)
    _write_durably(Path(directory) / name, content)
    return SavepointPart(name, level, subtask, len(content), hashlib.sha256(content).hexdigest(), tuple(states))


def write_metadata(savepoint: Savepoint) -> None:
    body = json.dumps(asdict(savepoint) | {"path": None}, indent=1, sort_keys=True)
    document = {"sha256": hashlib.sha256(body.encode()).hexdigest(), "savepoint": json.loads(body)}
    _write_durably(Path(savepoint.path) / METADATA, json.dumps(document, indent=1, sort_keys=True).encode())


def _write_durably(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def open_savepoint(path: str) -> Savepoint:
    """Reads and checks a savepoint completely, before anything is done with it."""
    savepoint = _read_metadata(path)
    for part in savepoint.parts:
        _read_part(path, part)
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
        operators = tuple(SavedOperator(**operator) for operator in saved["operators"])
        parts = tuple(SavepointPart(**{**part, "operators": tuple(part["operators"])}) for part in saved["parts"])
        return Savepoint(**{**saved, "path": path, "operators": operators, "parts": parts})
    except FileNotFoundError:
        raise JobExecutionError(
            f"{path!r} is no savepoint: there is no {METADATA} file in it; give the directory savepoint-…"
        ) from None
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {METADATA} cannot be used, {error}") from error


@functools.lru_cache(maxsize=64)
def _read_part(path: str, part: SavepointPart) -> dict[str, bytes]:
    file = Path(path) / part.name
    try:
        content = file.read_bytes()
    except OSError as error:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {part.name} cannot be read, {error}") from error
    if len(content) != part.bytes or hashlib.sha256(content).hexdigest() != part.sha256:
        raise JobExecutionError(f"the savepoint {path!r} is damaged: {part.name} is not what was written")
    states: dict[str, bytes] = loads(content)
    return states
