"""State of a job to look at, always that of one epoch: of the one that ends next, or of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from itertools import islice
from typing import Any, TypedDict

from penstock.control.job_control import JobControl, JobDescription
from penstock.control.snapshot_history import HistoryEntry, SnapshotStatus
from penstock.control.state_questions import StateAnswer
from penstock.rest.endpoint import RestError, bad_request, not_found
from penstock.runtime.state_answers import is_key, plain
from penstock.runtime.state_questions import StateQuestion
from penstock.state_processor import SavepointReader

_MOST_ENTRIES = 1000
_ANSWER_SECONDS = 60.0


class StateInfo(TypedDict):
    name: str
    kind: str
    type: str | None
    entries: int | None
    bytes: int | None


class OperatorStates(TypedDict):
    uid: str
    name: str
    states: list[StateInfo]


class States(TypedDict):
    epoch: int | None
    path: str | None
    operators: list[OperatorStates]


class StateEntry(TypedDict):
    key: Any
    namespace: Any
    value: Any


class StateEntries(TypedDict):
    epoch: int | None
    path: str | None
    uid: str
    state: str
    entries: list[StateEntry]
    truncated: bool


def live_states(control: JobControl) -> States:
    answer = _asked(control, StateQuestion())
    operators: dict[str, OperatorStates] = {}
    for state in answer.states:
        known = operators.setdefault(state.uid, {"uid": state.uid, "name": state.operator, "states": []})
        known["states"].append(
            {
                "name": state.name,
                "kind": state.kind,
                "type": state.type,
                "entries": state.entries,
                "bytes": state.bytes,
            }
        )
    return {"epoch": answer.epoch, "path": None, "operators": list(operators.values())}


def live_entries(control: JobControl, uid: str, state: str, key: str | None, limit: int | None) -> StateEntries:
    answer = _asked(control, StateQuestion(uid, state, key, _most(limit)))
    if not answer.states:
        known = _asked(control, StateQuestion(uid)).states
        names = ", ".join(sorted(each.name for each in known if each.uid == uid)) or "none"
        raise not_found(f"the operator {uid!r} has no state {state!r}; its states are: {names}")
    return {
        "epoch": answer.epoch,
        "path": None,
        "uid": uid,
        "state": state,
        "entries": [{"key": each.key, "namespace": each.namespace, "value": each.value} for each in answer.entries],
        "truncated": answer.truncated,
    }


def _asked(control: JobControl, question: StateQuestion) -> StateAnswer:
    try:
        return control.look_at_state(question).result(_ANSWER_SECONDS)
    except TimeoutError:
        raise RestError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"no epoch of the job has ended in {_ANSWER_SECONDS:.0f} s; with ?from=checkpoint its newest checkpoint is "
            "read instead",
        ) from None


def snapshot_to_read(job: JobDescription) -> tuple[str, int | None]:
    """Where the newest one is, and after which epoch it was taken."""
    entry = _newest(job)
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
    most = _most(limit)
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


def _most(limit: int | None) -> int:
    most = _MOST_ENTRIES if limit is None else limit
    if not 0 < most <= _MOST_ENTRIES:
        raise bad_request(f"the limit is between 1 and {_MOST_ENTRIES}")
    return most


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
