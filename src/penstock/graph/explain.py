"""The plan of a job as Flink shows it: JSON with nodes and the ways records take between them."""

from __future__ import annotations

import json
from typing import Any

from penstock.graph.chains import display_name
from penstock.graph.stream_graph import StreamGraph
from penstock.graph.transformation import Node


def execution_plan_json(graph: StreamGraph) -> str:
    return json.dumps({"nodes": [_node_json(graph, node) for node in graph.nodes]}, indent=2)


def _node_json(graph: StreamGraph, node: Node) -> dict[str, Any]:
    name = display_name(node)
    plan: dict[str, Any] = {
        "id": node.id,
        "type": name,
        "pact": "Data Source" if node.is_source else "Data Sink" if node.is_sink else "Operator",
        "contents": node.description or name,
        "parallelism": graph.parallelism[node.id],
    }
    if graph.incoming[node.id]:
        plan["predecessors"] = [
            {"id": edge.source.id, "ship_strategy": edge.partitioning.label, "side": "second"}
            for edge in graph.incoming[node.id]
        ]
    return plan
