"""Cuts the graph at its exchanges: the level of an operator is the number of exchanges on its longest path."""

from __future__ import annotations

from penstock.graph.stream_graph import StreamEdge, StreamGraph


def levels_of(graph: StreamGraph) -> dict[int, int]:
    """Node id -> level. Operators of one level run side by side in the same Spark stage."""
    levels: dict[int, int] = {}
    for node in graph.nodes:
        incoming = graph.incoming[node.id]
        levels[node.id] = max((levels[edge.source.id] + _step(edge) for edge in incoming), default=0)
    return levels


def _step(edge: StreamEdge) -> int:
    # A Spark DataFrame arrives in tasks of its own, which hold no operators: what follows is one level on.
    return 1 if not edge.is_forward or "spark_frame" in edge.source.params else 0
