"""The dataflow graph of a job: nodes in topological order, edges with settled exchange strategies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

from penstock.common.errors import ProgramError
from penstock.graph.transformation import Node, Upstream
from penstock.runtime.partitioning import Broadcast, ByKey, Custom, Forward, Partitioning, Rebalance

DEFAULT_MAX_PARALLELISM = 128
UPPER_BOUND_MAX_PARALLELISM = 1 << 15


@dataclass(frozen=True)
class StreamEdge:
    """One connection, with the strategy that will be used."""

    source: Node
    target: Node
    input_index: int
    side_output: str | None
    partitioning: Partitioning

    @property
    def is_forward(self) -> bool:
        return isinstance(self.partitioning, Forward)


@dataclass(frozen=True)
class StreamGraph:
    """A job's nodes (upstream first) and edges, with each node's parallelism decided."""

    nodes: tuple[Node, ...]
    edges: tuple[StreamEdge, ...]
    parallelism: dict[int, int]
    max_parallelism: dict[int, int]
    uids: dict[int, str]
    incoming: dict[int, list[StreamEdge]] = field(default_factory=dict)
    outgoing: dict[int, list[StreamEdge]] = field(default_factory=dict)


def build_stream_graph(
    sinks: Iterable[Node], default_parallelism: int, default_max_parallelism: int | None
) -> StreamGraph:
    nodes = upstream_first(sinks)
    parallelism = {node.id: _parallelism(node, default_parallelism) for node in nodes}
    max_parallelism = {node.id: _max_parallelism(node, parallelism[node.id], default_max_parallelism) for node in nodes}
    edges = tuple(
        StreamEdge(upstream.node, node, index, upstream.side_output, _settled(upstream, node, parallelism))
        for node in nodes
        for index, streams in enumerate(node.inputs)
        for upstream in streams
    )
    incoming: dict[int, list[StreamEdge]] = {node.id: [] for node in nodes}
    outgoing: dict[int, list[StreamEdge]] = {node.id: [] for node in nodes}
    for edge in edges:
        incoming[edge.target.id].append(edge)
        outgoing[edge.source.id].append(edge)
    return StreamGraph(nodes, edges, parallelism, max_parallelism, _uids(nodes), incoming, outgoing)


def upstream_first(sinks: Iterable[Node]) -> tuple[Node, ...]:
    """All nodes that lead to the sinks, each after its inputs; without recursion: a chain may have thousands."""
    ordered: dict[int, Node] = {}
    stack: list[tuple[Node, bool]] = [(sink, False) for sink in reversed(list(sinks))]
    while stack:
        node, expanded = stack.pop()
        if node.id in ordered:
            continue
        if expanded:
            ordered[node.id] = node
        else:
            stack.append((node, True))
            stack.extend((upstream.node, False) for upstream in reversed(node.upstreams))
    return tuple(ordered.values())


def _parallelism(node: Node, default: int) -> int:
    return default if node.parallelism is None else node.parallelism


def _max_parallelism(node: Node, parallelism: int, default: int | None) -> int:
    chosen = node.max_parallelism or default
    if chosen is None:
        # Flink: a power of two above one and a half times the parallelism, within these bounds.
        chosen = 1 << (parallelism + parallelism // 2 - 1).bit_length()
        chosen = min(max(chosen, DEFAULT_MAX_PARALLELISM), UPPER_BOUND_MAX_PARALLELISM)
    if parallelism > chosen:
        raise ProgramError(
            f"operator {node.name!r} ({node.origin}) has parallelism {parallelism}, "
            f"which is more than its max parallelism {chosen}"
        )
    return chosen


def _settled(upstream: Upstream, node: Node, parallelism: dict[int, int]) -> Partitioning:
    same = parallelism[upstream.node.id] == parallelism[node.id]
    partitioning = upstream.partitioning
    if partitioning is None:
        return Forward() if same else Rebalance()
    if isinstance(partitioning, Forward) and not same:
        raise ProgramError(
            "Forward partitioning does not allow change of parallelism: "
            f"forward() from {upstream.node.name!r} (parallelism {parallelism[upstream.node.id]}) to "
            f"{node.name!r} (parallelism {parallelism[node.id]}) needs the same parallelism on both sides; "
            f"see {node.origin}"
        )
    # A partitioner of the program's own is asked also where there is nothing to choose: it may count, or fail.
    if parallelism[node.id] == 1 and same and not isinstance(partitioning, (ByKey, Broadcast, Custom)):
        return Forward(partitioning.label)
    return partitioning


def _uids(nodes: tuple[Node, ...]) -> dict[int, str]:
    """The user's uid, or one made of the node's place in the graph, as stable as the program itself."""
    uids: dict[int, str] = {}
    seen: dict[str, Node] = {}
    for position, node in enumerate(nodes):
        uid = node.uid
        if uid is None:
            inputs = ",".join(uids[upstream.node.id] for upstream in node.upstreams)
            uid = hashlib.md5(f"{position}/{node.kind}/{inputs}".encode(), usedforsecurity=False).hexdigest()
        if node.uid_is_planned:
            uid = _with_number(uid, seen)
        if uid in seen:
            raise ProgramError(
                f"the uid {uid!r} is given twice: {seen[uid].name!r} ({seen[uid].origin}) and "
                f"{node.name!r} ({node.origin}); uids must be unique in a job"
            )
        seen[uid] = node
        uids[node.id] = uid
    return uids


def _with_number(uid: str, seen: dict[str, Node]) -> str:
    """A table that becomes two streams is planned twice, each time under the same uids."""
    number = next(number for number in count(1) if (uid if number == 1 else f"{uid}/{number}") not in seen)
    return uid if number == 1 else f"{uid}/{number}"
