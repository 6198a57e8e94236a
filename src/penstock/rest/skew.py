"""Skew of a keyed operator: how unevenly its subtasks are loaded, which keys are to blame, and what to do."""

from __future__ import annotations

import statistics
from typing import TypedDict

from penstock.control.job_control import JobDescription, OperatorDescription, SubtaskDescription

_SKEWED = 0.5  # coefficient of variation of the records per subtask
_HOT_SHARE = 0.10
_CERTAIN_SHARE = 0.02  # what is rarer may be missing in the summary, or be in it by chance
_ENOUGH_RECORDS = 1000


class HotKeyShare(TypedDict):
    key: str
    share: float
    count: int


VertexSkew = TypedDict(
    "VertexSkew",
    {
        "id": str,
        "name": str,
        "coefficient": float,
        "records": list[int],
        "state-bytes": list[int],
        "hot-keys": list[HotKeyShare],
        "skewed": bool,
        "advice": list[str],
    },
)


class Skew(TypedDict):
    vertices: list[VertexSkew]


def skew(job: JobDescription) -> Skew:
    """Of the operators after a key_by()."""
    keyed = [op for op in job.operators if any(input_.strategy == "HASH" for input_ in op.inputs)]
    return {"vertices": [_of(operator) for operator in keyed]}


def _of(operator: OperatorDescription) -> VertexSkew:
    records = [_records(subtask) for subtask in operator.subtasks]
    sizes = [
        int(sum(v for name, v in s.metrics.items() if name.startswith("state.") and name.endswith(".bytes")))
        for s in operator.subtasks
    ]
    mean = statistics.fmean(records) if records else 0.0
    coefficient = statistics.pstdev(records) / mean if mean else 0.0
    hot = _hot_keys(operator)
    enough = sum(records) >= _ENOUGH_RECORDS
    hot_now = [each for each in hot if each["share"] >= _HOT_SHARE]
    skewed = enough and len(records) > 1 and (coefficient >= _SKEWED or bool(hot_now))
    return {
        "id": operator.uid,
        "name": operator.name,
        "coefficient": round(coefficient, 3),
        "records": records,
        "state-bytes": sizes,
        "hot-keys": hot,
        "skewed": skewed,
        "advice": _advice(operator, hot_now) if skewed else [],
    }


def _hot_keys(operator: OperatorDescription) -> list[HotKeyShare]:
    """Keys live in one subtask each, so that their counts need no adding. Busy subtasks look at fewer of their records:

    the share in a sample is one of the subtask's records.
    """
    everything = sum(_records(subtask) for subtask in operator.subtasks)
    found = [
        (key.key, key.seen / subtask.keys_sampled * _records(subtask))
        for subtask in operator.subtasks
        for key in subtask.hot_keys
        if subtask.keys_sampled
    ]
    found.sort(key=lambda pair: -pair[1])
    return [
        {"key": key, "share": round(records / everything, 4), "count": round(records)}
        for key, records in found[:10]
        if everything and records / everything >= _CERTAIN_SHARE
    ]


def _records(subtask: SubtaskDescription) -> int:
    return int(subtask.metrics.get("numRecordsIn", 0))


def _advice(operator: OperatorDescription, hot: list[HotKeyShare]) -> list[str]:
    if not hot:
        return [
            "No single key is hot: many keys fall into few subtasks. More key groups spread them better: "
            "set_max_parallelism() with a larger number, before the job has state."
        ]
    share = sum(each["share"] for each in hot)
    keys = [each["key"] for each in hot]
    said = f"The key {keys[0]} makes up" if len(keys) == 1 else f"The keys {', '.join(keys)} make up"
    advice = [f"{said} {share * 100:.0f} % of the records of {operator.name!r}."]
    if operator.kind in ("reduce", "sum", "min", "max", "min_by", "max_by", "aggregate", "window"):
        advice.append(
            "Aggregate in two phases: key_by(lambda r: (key(r), random.randrange(8))) and the same aggregation first, "
            "then key_by(key) and combine the partial results."
        )
        advice.append(
            "Pre-aggregate before the exchange: records.flat_map(partial) before key_by(), where partial keeps one "
            "result per key in a dict of its own (which is in every snapshot) and yields them all after each thousand "
            "records."
        )
    elif "join" in operator.kind or operator.kind.startswith("co_"):
        advice.append(
            "If one side is small, broadcast it: small.broadcast(descriptor) and large.connect(it) need no key at all."
        )
        advice.append(
            "Split the hot keys out: filter them into a stream of their own, join that with a broadcast, union both."
        )
    else:
        advice.append("Split hot keys: add a part of the record to the key where the program does not need it whole.")
    advice.append("Without state, partition_custom(partitioner, key) spreads records as you like.")
    return advice
