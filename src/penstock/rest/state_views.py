"""Keyed state of a job to look at: that of its newest checkpoint or savepoint, so that it is of one epoch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypedDict

from penstock.control.job_control import JobControl, JobDescription
from penstock.control.snapshot_history import HistoryEntry, SnapshotStatus
from penstock.rest.endpoint import bad_request, not_found
from penstock.state_processor import SavepointReader

_MOST_ENTRIES = 1000
_CHECKPOINT_SECONDS = 60.0


class StateInfo(TypedDict):
    name: str
    kind: str
    type: str | None
    entries: int
    bytes: int


class OperatorStates(TypedDict):
    uid: str
    name: str
    states: list[StateInfo]


class States(TypedDict):
    epoch: int | None
    path: str
    operators: list[OperatorStates]


class StateEntry(TypedDict):
    key: Any
    namespace: Any
    value: Any


class StateEntries(TypedDict):
    epoch: int | None
    path: str
    uid: str
    state: str
    entries: list[StateEntry]
    truncated: bool


def snapshot_to_read(control: JobControl, fresh: bool) -> tuple[str, int | None]:
    """Where it is, and after which epoch it was taken; with `fresh` a checkpoint is taken first."""
    if fresh:
        control.checkpoint().result(_CHECKPOINT_SECONDS)
    entry = _newest(control.describe())
    if entry is None or entry.path is None:
        raise not_found(
            "the job has no checkpoint or savepoint to read from: set execution.checkpointing.interval, or take a "
            "savepoint first"
        )
    return entry.path, entry.epoch


def _newest(job: JobDescription) -> HistoryEntry | None:
    complete = (entry for entry in reversed(job.snapshots.entries) if entry.status is SnapshotStatus.COMPLETED)
    return next((entry for entry in complete if not entry.discarded), None)


def states(path: str, epoch: int | None) -> States:
    return {
        "epoch": epoch,
        "path": path,
        "operators": [
            {
                "uid": operator.uid,
                "name": operator.name,
                "states": [
                    {
                        "name": state.name,
                        "kind": state.kind,
                        "type": state.type,
                        "entries": state.entries,
                        "bytes": state.bytes,
                    }
                    for state in operator.states
                ],
            }
            for operator in SavepointReader.load(path).operators()
            if operator.states
        ],
    }


def entries(path: str, epoch: int | None, uid: str, state: str, key: str | None, limit: int | None) -> StateEntries:
    most = _MOST_ENTRIES if limit is None else limit
    if not 0 < most <= _MOST_ENTRIES:
        raise bad_request(f"the limit is between 1 and {_MOST_ENTRIES}")
    found = _rows(SavepointReader.load(path), uid, state, key)
    first: list[StateEntry] = list(islice(found, most + 1))
    return {
        "epoch": epoch,
        "path": path,
        "uid": uid,
        "state": state,
        "entries": first[:most],
        "truncated": len(first) > most,
    }


def _rows(reader: SavepointReader, uid: str, state: str, key: str | None) -> Iterator[StateEntry]:
    rows = (
        reader.read_operator_state(uid, state)
        if state in reader.operator_state_names(uid)
        else reader.read_keyed_state(uid, state)
    )
    for row in rows:
        own = getattr(row, "key", None)
        if key is None or is_key(own, key):
            value = {name: plain(getattr(row, name)) for name in rows.columns if name not in ("key", "namespace")}
            [only] = value.values() if len(value) == 1 else [value]
            yield {"key": plain(own), "namespace": plain(getattr(row, "namespace", None)), "value": only}


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
