"""Where a stream ends: in a sink, on the screen, or in the program that runs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.base import SupportsPreprocessing
from penstock.connectors.collecting import CollectSink
from penstock.connectors.printing import PrintSink
from penstock.datastream.client_values import as_the_client_sees
from penstock.datastream.closeable_iterator import CloseableIterator
from penstock.datastream.data_stream_sink import DataStreamSink
from penstock.datastream.functions import SinkFunction, as_function
from penstock.datastream.operator_settings import OperatorSettings
from penstock.datastream.pandas_results import frames_of
from penstock.functions.sink import Sink
from penstock.graph.origin import user_line
from penstock.graph.transformation import Node, Upstream

if TYPE_CHECKING:
    import pandas

    from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["StreamEnds"]


class StreamEnds(OperatorSettings):
    """What a stream is made of, and the ways to end it."""

    def __init__(
        self,
        env: StreamExecutionEnvironment,
        upstreams: tuple[Upstream, ...],
        type_info: TypeInformation,
        nodes: tuple[Node, ...] = (),
    ) -> None:
        """`nodes` is the operator that the stream comes out of; none for a union or an exchange."""
        self._env = env
        self._upstreams = upstreams
        self._type_info = type_info
        self._nodes = nodes

    def _sink(self, kind: str, name: str, function: Any) -> DataStreamSink:
        """The one way to create a sink."""
        params = {"sink": True, "type_info": self._type_info}
        return DataStreamSink(self._env, self._node_behind(kind, name, function, params, ()))

    def _node_behind(
        self,
        kind: str,
        name: str,
        function: Any,
        params: dict[str, Any] | None,
        other_inputs: tuple[StreamEnds, ...],
    ) -> Node:
        for other in other_inputs:
            self._require_same_environment(other, name)
        node = Node(
            kind,
            name,
            user_line(),
            inputs=(self._upstreams, *(other._upstreams for other in other_inputs)),
            function=function,
            params=dict(params or {}),
            parallelism=self._env.get_parallelism(),
        )
        self._env._add_operator(node)
        return node

    def _require_same_environment(self, other: StreamEnds, operation: str) -> None:
        if other._env is not self._env:
            raise ProgramError(
                f"{operation} takes streams of one StreamExecutionEnvironment, but these belong to two:"
                " create the environment once and take all sources from it."
            )

    def add_sink(self, sink_func: SinkFunction) -> DataStreamSink:
        """Ends in a sink function written in Python."""
        function = as_function(sink_func, SinkFunction, "add_sink()")
        sink = function._as_sink()
        if sink is not None:
            return self.sink_to(sink)
        return self._sink("sink_function", "Unnamed", function)

    def sink_to(self, sink: Any) -> DataStreamSink:
        """Ends in a sink of ``penstock.datastream.connectors``, or one of your own (docs/connectors-own.md)."""
        if not isinstance(sink, Sink):
            raise ProgramError(
                f"sink_to() takes a Sink such as FileSink, got {sink!r}; a SinkFunction goes to add_sink()."
            )
        return self._prepared_for(sink)._sink("sink", "Writer", sink)

    def _prepared_for(self, sink: Sink) -> StreamEnds:
        """The stream as the sink wants it."""
        transformer = sink.get_transformer() if isinstance(sink, SupportsPreprocessing) else None
        prepared: StreamEnds = self if transformer is None else transformer.apply(self)
        return prepared

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Writes the records to standard output, after the identifier if one is given."""
        return self._sink("sink", "Print to Std. Out", PrintSink(sink_identifier))

    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, limit: None = None) -> CloseableIterator: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, *, limit: int) -> list[Any]: ...

    @overload
    def execute_and_collect(self, job_execution_name: str | None, limit: int) -> list[Any]: ...

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator | list[Any]:
        """Runs the program and iterates over this stream's records; a limit returns so many as a list."""
        if limit is not None and (not isinstance(limit, int) or limit <= 0):
            raise ProgramError(f"Limit must be greater than 0, got {limit!r}")
        stream = self._collected_stream()
        node = stream._collecting_node()
        job = self._env._submit(job_execution_name)
        results = CloseableIterator(job, as_the_client_sees(job.collected(node), stream._type_info))
        if limit is None:
            return results
        with results:
            return [record for _, record in zip(range(limit), results, strict=False)]

    def to_pandas_iterator(
        self, max_rows: int | None = None, job_execution_name: str | None = None
    ) -> Iterator[pandas.DataFrame]:
        """Runs the program and yields this stream's records as pandas DataFrames, one per completed epoch.

        Columns are the fields of a Row or tuple; other records are in the column ``value``. With
        ``max_rows`` longer epochs come in pieces. Closing the iterator cancels the job. Beyond PyFlink.
        """
        if max_rows is not None and (not isinstance(max_rows, int) or max_rows <= 0):
            raise ProgramError(f"max_rows must be greater than 0, got {max_rows!r}")
        stream = self._collected_stream()
        node = stream._collecting_node()
        return frames_of(self._env._submit(job_execution_name), node, stream._type_info, max_rows)

    def to_spark(self, directory: str, job_execution_name: str | None = None) -> Any:
        """Runs the program and gives this stream's records as a DataFrame of its Spark session, for all that only Spark
        can do with them. They go through Parquet files below ``directory``, which is kept and must be new or empty.

        Of a bounded program the DataFrame is complete; else the job goes on and the DataFrame is a streaming one, with
        every record once. Columns are the fields of a Row or tuple; other records are in the column ``value``. Beyond
        PyFlink; the way back is ``env.from_spark(df)``.
        """
        from penstock.datastream.spark_results import frame_of

        return frame_of(self, directory, job_execution_name)

    def _collected_stream(self) -> StreamEnds:
        """The stream whose records the program gets."""
        return self

    def _collecting_node(self) -> Node:
        """The collecting end stands beside a single operator, so that its order holds; else it is one for all."""
        node = self._sink("sink", "Data stream collect sink", CollectSink())._operator_nodes("")[0]
        beside = {upstream.node.parallelism for upstream in self._upstreams if upstream.partitioning is None}
        node.parallelism = beside.pop() if len(self._upstreams) == 1 and beside else 1
        return node
