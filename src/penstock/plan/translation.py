"""Translates a job's graph into the blueprint that the containers run."""

from __future__ import annotations

from typing import Any

from penstock.graph.chains import JobGraph, build_job_graph, display_name
from penstock.graph.job_request import JobRequest
from penstock.graph.levels import levels_of
from penstock.graph.stream_graph import StreamEdge, StreamGraph, build_stream_graph
from penstock.graph.transformation import Node
from penstock.runtime.blueprint import (
    NATIVE_SOURCE,
    EdgeBlueprint,
    JobBlueprint,
    JobSettings,
    OperatorBlueprint,
)


def translate(request: JobRequest, settings: JobSettings) -> JobBlueprint:
    graph = build_stream_graph(request.sinks, request.parallelism, request.max_parallelism)
    job_graph = build_job_graph(graph, request.chaining)
    levels = levels_of(graph)
    return JobBlueprint(
        settings=settings,
        operators=tuple(_operator(node, graph, job_graph, levels, request.batch_mode) for node in graph.nodes),
        edges=tuple(_edge(index, edge, graph, job_graph, levels) for index, edge in enumerate(graph.edges)),
        levels=max(levels.values()) + 1,
        parallelism=max(graph.parallelism.values()),
    )


def _operator(
    node: Node, graph: StreamGraph, job_graph: JobGraph, levels: dict[int, int], batch_mode: bool
) -> OperatorBlueprint:
    function, params = node.function, dict(node.params)
    source = params.pop("source", None)
    native = params.pop("spark_frame", None) is not None
    if source is not None:
        function = source.reader()
    if batch_mode:
        params.update(_BATCH_PARAMS.get(node.kind, {}))
    return OperatorBlueprint(
        id=node.id,
        uid=graph.uids[node.id],
        name=display_name(node),
        kind=NATIVE_SOURCE if native else node.kind,
        function=function,
        params=params,
        parallelism=graph.parallelism[node.id],
        max_parallelism=graph.max_parallelism[node.id],
        level=levels[node.id],
        origin=node.origin,
        output_type=node.output_type,
        task_name=job_graph.task_of[node.id].name,
        task_max_parallelism=_task_max_parallelism(job_graph.task_of[node.id].head, graph),
    )


def _task_max_parallelism(head: Node, graph: StreamGraph) -> int:
    """All of a chain are told that of its head; a collection cannot be read in parallel."""
    return 1 if head.is_source and head.fixed_parallelism else graph.max_parallelism[head.id]


# In batch mode time stands still until the end, and rolling results are given once.
_BATCH_PARAMS: dict[str, dict[str, Any]] = {
    "reduce": {"only_final": True},
    "timestamps": {"only_at_end": True},
}


def _edge(
    index: int, edge: StreamEdge, graph: StreamGraph, job_graph: JobGraph, levels: dict[int, int]
) -> EdgeBlueprint:
    source, target = edge.source, edge.target
    return EdgeBlueprint(
        id=index,
        source=source.id,
        target=target.id,
        input_index=edge.input_index,
        partitioning=edge.partitioning,
        source_parallelism=graph.parallelism[source.id],
        target_parallelism=graph.parallelism[target.id],
        target_max_parallelism=graph.max_parallelism[target.id],
        source_level=levels[source.id],
        target_level=levels[target.id],
        side_output=edge.side_output,
        type_info=_edge_type(edge),
        # Types are applied where PyFlink would leave a Python process; sources are typed when they are made.
        coerce=target.is_sink or (not source.is_source and not _stays_in_python(edge, graph, job_graph)),
        target_kind=target.kind,
    )


def _stays_in_python(edge: StreamEdge, graph: StreamGraph, job_graph: JobGraph) -> bool:
    """PyFlink hands objects from function to function only where one follows the other alone."""
    return edge in job_graph.chained and edge.side_output is None and len(graph.outgoing[edge.source.id]) == 1


def _edge_type(edge: StreamEdge) -> Any:
    if edge.side_output is None:
        return edge.source.output_type
    return edge.source.side_output_types.get(edge.side_output)
