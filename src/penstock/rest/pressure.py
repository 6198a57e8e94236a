"""Back pressure: who suffers from it, and which operator causes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from penstock.control.job_control import JobDescription, OperatorDescription, SubtaskDescription

_LOW, _HIGH = 0.10, 0.5  # Flink's limits


@dataclass(frozen=True)
class Shares:
    """Of a second: computing itself, waiting for those after it, having nothing to do."""

    busy: float
    pressed: float
    idle: float


class VertexPressure(TypedDict):
    id: str
    name: str
    level: str
    ratio: float
    busy: float
    idle: float
    cause: str | None


class Cause(TypedDict):
    id: str
    name: str
    busy: float
    text: str


class PressureOverview(TypedDict):
    vertices: list[VertexPressure]
    cause: Cause | None


def level_of(ratio: float) -> str:
    return "ok" if ratio <= _LOW else "low" if ratio <= _HIGH else "high"


def subtask_shares(subtask: SubtaskDescription) -> Shares:
    def share(name: str, default: float) -> float:
        return round(subtask.metrics.get(name, default) / 1000, 3)

    return Shares(
        share("busyTimeMsPerSecond", 0), share("backPressuredTimeMsPerSecond", 0), share("idleTimeMsPerSecond", 1000)
    )


def shares(operator: OperatorDescription) -> Shares:
    """The worst of its subtasks, as in Flink."""
    every = [subtask_shares(subtask) for subtask in operator.subtasks]
    if not every:
        return Shares(0.0, 0.0, 1.0)
    return Shares(
        max(each.busy for each in every), max(each.pressed for each in every), min(each.idle for each in every)
    )


def worst_level(job: JobDescription) -> str:
    return level_of(max((shares(operator).pressed for operator in job.operators), default=0.0))


def overview(job: JobDescription) -> PressureOverview:
    by_uid = {operator.uid: operator for operator in job.operators}
    behind = _behind(job)
    vertices: list[VertexPressure] = []
    blamed: dict[str, list[str]] = {}
    for operator in job.operators:
        of = shares(operator)
        cause = None
        if of.pressed > _LOW:
            # Not one of its own task: what that works is not waiting.
            others = [uid for uid in behind[operator.uid] if by_uid[uid].level > operator.level]
            cause = max(others, key=lambda uid: shares(by_uid[uid]).busy, default=None)
        if cause is not None:
            blamed.setdefault(cause, []).append(operator.name)
        vertices.append(
            {
                "id": operator.uid,
                "name": operator.name,
                "level": level_of(of.pressed),
                "ratio": of.pressed,
                "busy": of.busy,
                "idle": of.idle,
                "cause": cause,
            }
        )
    return {"vertices": vertices, "cause": _cause(blamed, by_uid)}


def _behind(job: JobDescription) -> dict[str, set[str]]:
    """All operators that records of an operator reach."""
    after: dict[str, set[str]] = {operator.uid: set() for operator in job.operators}
    for operator in reversed(job.operators):  # upstream first in the job, so that this comes from the end
        for input_ in operator.inputs:
            if input_.uid in after:
                after[input_.uid] |= {operator.uid} | after[operator.uid]
    return after


def _cause(blamed: dict[str, list[str]], by_uid: dict[str, OperatorDescription]) -> Cause | None:
    if not blamed:
        return None
    uid = max(blamed, key=lambda each: shares(by_uid[each]).busy)
    name, busy, suffering = by_uid[uid].name, shares(by_uid[uid]).busy, " and ".join(dict.fromkeys(blamed[uid]))
    return {
        "id": uid,
        "name": name,
        "busy": busy,
        "text": f"{name} is busy {100 * busy:.0f} % of the time and slows down {suffering}",
    }
