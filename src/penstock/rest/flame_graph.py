"""A flame graph of the Python code of an operator, from the stacks that its workers have sampled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from penstock.control.job_control import OperatorDescription, SampledStack


class Flame(TypedDict):
    name: str
    value: int
    children: list[Flame]


class FlameGraph(TypedDict, total=False):
    endTimestamp: int
    data: Flame


def flame_graph(operator: OperatorDescription, subtask: int | None, now: int) -> FlameGraph:
    """Empty, as Flink's is, when nothing was sampled."""
    chosen = [each for each in operator.subtasks if subtask is None or each.index == subtask]
    stacks = [stack for each in chosen for stack in each.stacks]
    if not stacks:
        return {}
    return {"endTimestamp": now, "data": _tree(stacks)}


def _tree(stacks: Iterable[SampledStack]) -> Flame:
    root: dict[str, Any] = {"name": "root", "value": 0, "children": {}}
    for stack in stacks:
        node = root
        node["value"] += stack.seen
        for frame in stack.frames:
            node = node["children"].setdefault(frame, {"name": frame, "value": 0, "children": {}})
            node["value"] += stack.seen
    return _with_lists(root)


def _with_lists(node: dict[str, Any]) -> Flame:
    children = sorted(node["children"].values(), key=lambda child: -child["value"])
    return {"name": node["name"], "value": node["value"], "children": [_with_lists(child) for child in children]}
