"""The end of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.datastream.operator_settings import OperatorSettings
from penstock.graph.transformation import Node

if TYPE_CHECKING:
    from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["DataStreamSink"]


class DataStreamSink(OperatorSettings):
    """A sink of the program, to be named and set parallel; ``ds.print()`` and others return it."""

    def __init__(self, env: StreamExecutionEnvironment, node: Node) -> None:
        self._env = env
        self._node = node

    def _operator_nodes(self, operation: str) -> tuple[Node, ...]:
        return (self._node,)
