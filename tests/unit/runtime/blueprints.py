"""Edges and operators for tests that need a plan without a program."""

from __future__ import annotations

from typing import Any

from penstock.runtime.blueprint import EdgeBlueprint, JobBlueprint, JobSettings, OperatorBlueprint, Origin
from penstock.runtime.partitioning import Forward, Partitioning

SETTINGS = JobSettings("0" * 32, "test job")


def edge(
    partitioning: Partitioning,
    senders: int = 1,
    receivers: int = 1,
    *,
    id: int = 0,
    source: int = 1,
    target: int = 2,
    source_level: int = 0,
    target_level: int = 1,
    max_parallelism: int = 128,
    **more: Any,
) -> EdgeBlueprint:
    return EdgeBlueprint(
        id=id,
        source=source,
        target=target,
        input_index=more.pop("input_index", 0),
        partitioning=partitioning,
        source_parallelism=senders,
        target_parallelism=receivers,
        target_max_parallelism=max_parallelism,
        source_level=source_level,
        target_level=target_level,
        **more,
    )


def operator(
    id: int, kind: str, function: Any = None, *, level: int = 0, parallelism: int = 1, **params: Any
) -> OperatorBlueprint:
    return OperatorBlueprint(
        id=id,
        uid=f"uid-{id}",
        name=f"{kind} {id}",
        kind=kind,
        function=function,
        params=params,
        parallelism=parallelism,
        max_parallelism=128,
        level=level,
        origin=Origin("program.py", id),
        task_name="task",
    )


def job(operators: list[OperatorBlueprint], edges: list[EdgeBlueprint]) -> JobBlueprint:
    return JobBlueprint(
        SETTINGS,
        tuple(operators),
        tuple(edges),
        levels=max(o.level for o in operators) + 1,
        parallelism=max(o.parallelism for o in operators),
    )


def chained(id: int, source: int, target: int, level: int = 0, parallelism: int = 1, **more: Any) -> EdgeBlueprint:
    """An edge inside a container."""
    return edge(
        Forward(),
        parallelism,
        parallelism,
        id=id,
        source=source,
        target=target,
        source_level=level,
        target_level=level,
        **more,
    )
