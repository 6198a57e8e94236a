"""The job graph: operators that run in one task, as Flink would chain them, and the tasks' names."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.graph.stream_graph import StreamEdge, StreamGraph
from penstock.graph.transformation import Chaining, Node
from penstock.runtime.partitioning import Forward


@dataclass(frozen=True)
class Task:
    """A chain of operators; `head` feeds the others."""

    head: Node
    nodes: tuple[Node, ...]
    name: str
    parallelism: int


@dataclass(frozen=True)
class JobGraph:
    tasks: tuple[Task, ...]
    task_of: dict[int, Task]
    chained: frozenset[StreamEdge]


def build_job_graph(graph: StreamGraph, chaining: bool) -> JobGraph:
    chained = frozenset(edge for edge in graph.edges if chaining and _chainable(graph, edge))
    head_of: dict[int, Node] = {}
    for node in graph.nodes:
        into = [edge for edge in graph.incoming[node.id] if edge in chained]
        head_of[node.id] = head_of[into[0].source.id] if into else node
    members: dict[int, list[Node]] = {}
    for node in graph.nodes:
        members.setdefault(head_of[node.id].id, []).append(node)
    names = _task_names(graph, chained)
    tasks = tuple(
        Task(nodes[0], tuple(nodes), names[nodes[0].id], graph.parallelism[nodes[0].id]) for nodes in members.values()
    )
    return JobGraph(tasks, {node.id: task for task in tasks for node in task.nodes}, chained)


def _chainable(graph: StreamGraph, edge: StreamEdge) -> bool:
    source, target = edge.source, edge.target
    return (
        edge.partitioning == Forward()
        and len(graph.incoming[target.id]) == 1
        and graph.parallelism[source.id] == graph.parallelism[target.id]
        and target.chaining is Chaining.ALWAYS
        and source.chaining is not Chaining.NEVER
        and slot_group(graph, source) == slot_group(graph, target)
        and "spark_frame" not in source.params
    )


def slot_group(graph: StreamGraph, node: Node) -> str:
    """The node's own group, or that of all its inputs when they agree, or the default one."""
    seen = node
    while seen.slot_sharing_group is None:
        sources = {edge.source.id: edge.source for edge in graph.incoming[seen.id]}
        if len(sources) != 1:
            return "default"
        seen = next(iter(sources.values()))
    return seen.slot_sharing_group


def display_name(node: Node) -> str:
    if node.is_source:
        return f"Source: {node.name}"
    return f"Sink: {node.name}" if node.is_sink else node.name


def _task_names(graph: StreamGraph, chained: frozenset[StreamEdge]) -> dict[int, str]:
    """Names of the tails first, so that a head's name can hold them: `a -> b`, `a -> (b, c)`."""
    names: dict[int, str] = {}
    for node in reversed(graph.nodes):
        behind = [names[edge.target.id] for edge in graph.outgoing[node.id] if edge in chained]
        name = display_name(node)
        if len(behind) == 1:
            name = f"{name} -> {behind[0]}"
        elif behind:
            name = f"{name} -> ({', '.join(behind)})"
        names[node.id] = name
    return names
