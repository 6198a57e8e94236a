"""StreamExecutionEnvironment: where a program takes its sources from and runs."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from penstock.common import options
from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.java_archives import unknown_jars
from penstock.common.job_client import JobClient
from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.run_options import current_run_options, expect_environment
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.connectors.collection import CollectionSource
from penstock.control.running_job import Executor, RunningJob
from penstock.datastream.collection_values import typed_elements
from penstock.datastream.environment_settings import EnvironmentSettings
from penstock.datastream.execution_mode import RuntimeExecutionMode
from penstock.datastream.functions import SourceFunction, as_function
from penstock.datastream.spark_schema import check_event_time_column, row_type_of
from penstock.datastream.stream import DataStream
from penstock.functions.source import Source
from penstock.graph.explain import execution_plan_json
from penstock.graph.job_request import JobRequest
from penstock.graph.origin import user_line
from penstock.graph.stream_graph import build_stream_graph
from penstock.graph.transformation import Node, Upstream
from penstock.runtime.sources.base import SourcePlanner
from penstock.runtime.sources.splits import SplitPlanner

__all__ = ["StreamExecutionEnvironment"]

_DEFAULT_JOB_NAME = "Flink Streaming Job"


class StreamExecutionEnvironment(EnvironmentSettings):
    """Makes sources, holds the settings, and runs what was built on them::

    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection(["a", "b"], Types.STRING()).print()
    env.execute("letters")
    """

    def __init__(self, configuration: Configuration | None = None, executor: Executor | None = None) -> None:
        """Programs call :meth:`get_execution_environment`; tests may bring an executor of their own."""
        if configuration is not None and not isinstance(configuration, Configuration):
            raise NotSupportedError(
                f"StreamExecutionEnvironment({configuration!r}): there are no Java environments here. Call"
                " StreamExecutionEnvironment.get_execution_environment()."
            )
        super().__init__(Configuration(configuration))
        self._executor = executor
        self._operators: list[Node] = []

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        """A new environment; it starts with the command line's options, over which the given ones win."""
        given = current_run_options()
        initial = Configuration.from_dict(given.configuration)
        if given.parallelism is not None:
            initial.set("parallelism.default", given.parallelism)
        if configuration is not None:
            if not isinstance(configuration, Configuration):
                raise ProgramError(f"get_execution_environment() takes a Configuration, got {configuration!r}")
            initial.add_all(configuration)
        expect_environment()
        return StreamExecutionEnvironment(initial)

    # Sources

    def from_collection(self, collection: Iterable[Any], type_info: TypeInformation | None = None) -> DataStream:
        """A stream of the elements of a list; without type they travel pickled."""
        if isinstance(type_info, list):
            raise ProgramError("from_collection(): type_info is one type for all elements, such as Types.ROW([...])")
        elements = list(collection)
        declared = Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info
        source = CollectionSource(typed_elements(elements, declared))
        return self._source_stream("Collection Source", {"source": source}, declared, source)

    def from_source(
        self,
        source: Any,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """A stream of the records of a source of ``penstock.datastream.connectors``, or of one of your own

        (docs/connectors-own.md).
        """
        if not isinstance(source, Source):
            raise ProgramError(
                f"from_source() takes a Source such as FileSource, got {source!r};"
                " a SourceFunction goes to add_source()."
            )
        if not isinstance(watermark_strategy, WatermarkStrategy):
            raise ProgramError(
                "from_source() takes a WatermarkStrategy such as WatermarkStrategy.no_watermarks(), got"
                f" {watermark_strategy!r}"
            )
        planner: SourcePlanner = source._planner() or SplitPlanner(source)
        declared = type_info or source.get_produced_type() or Types.PICKLED_BYTE_ARRAY()
        stream = self._source_stream(source_name, {"source": planner}, declared, planner)
        return self._with_watermarks(stream, watermark_strategy)

    def add_source(
        self,
        source_func: SourceFunction,
        source_name: str = "Custom Source",
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """A stream of what a source function written in Python emits, in one subtask."""
        from penstock.connectors.function_source import FunctionSource

        function = as_function(source_func, SourceFunction, "add_source()")
        splits = function._as_source()
        if splits is not None:
            return self.from_source(splits, WatermarkStrategy.no_watermarks(), source_name, type_info)
        produced = getattr(function, "get_produced_type", None)
        declared = type_info or (produced() if produced is not None else Types.PICKLED_BYTE_ARRAY())
        source: SourcePlanner = FunctionSource(function)
        return self._source_stream(source_name, {"source": source}, declared, source, fixed=True)

    def from_spark(self, df: Any, event_time_column: str | None = None) -> DataStream:
        """A stream of the Rows of a Spark DataFrame, streaming or bounded (beyond PyFlink).

        With ``event_time_column`` (a timestamp, or epoch milliseconds) records carry that time; watermarks
        come from ``assign_timestamps_and_watermarks``.
        """
        row_type = row_type_of(df)
        if event_time_column is not None:
            check_event_time_column(df, event_time_column)
        return self._source_stream(
            "Spark DataFrame", {"spark_frame": df, "event_time": event_time_column}, row_type, None
        )

    def create_input(self, input_format: Any, type_info: TypeInformation | None = None) -> DataStream:
        """A stream of the files of an input format, such as AvroInputFormat; Flink's others are Java code."""
        from penstock.connectors.files.source import FileSourceBuilder
        from penstock.formats.avro_files import AvroInputFormat

        if not isinstance(input_format, AvroInputFormat):
            raise NotSupportedError(
                f"create_input({type(input_format).__name__}): this input format is Flink's Java code, which does"
                " not run on Penstock. Use from_source() with a FileSource, or from_spark() and a Spark reader."
            )
        source = FileSourceBuilder(input_format, tuple(input_format._paths)).build()
        return self.from_source(source, WatermarkStrategy.no_watermarks(), "Custom File Source", type_info)

    def _source_stream(
        self,
        name: str,
        params: dict[str, Any],
        type_info: TypeInformation,
        source: SourcePlanner | None,
        fixed: bool = False,
    ) -> DataStream:
        single = fixed or (source is not None and source.max_parallelism == 1)
        node = Node(
            "source" if source is None else source.kind,
            name,
            user_line(),
            params=params,
            output_type=type_info,
            parallelism=1 if single else self.get_parallelism(),
            fixed_parallelism=single,
        )
        return DataStream(self, (Upstream(node),), type_info, (node,))

    def _with_watermarks(self, stream: DataStream, strategy: WatermarkStrategy) -> DataStream:
        """Watermarks arise in the source itself: their operator belongs to it and takes over its settings."""
        if strategy == WatermarkStrategy.no_watermarks():
            return stream
        source = stream._nodes[0]
        watermarks = Node(
            "timestamps",
            "Timestamps/Watermarks",
            source.origin,
            inputs=(stream._upstreams,),
            function=strategy,
            params={"part_of_source": True},
            output_type=source.output_type,
            parallelism=source.parallelism,
            fixed_parallelism=source.fixed_parallelism,
        )
        return DataStream(self, (Upstream(watermarks),), stream.get_type(), (source, watermarks))

    # Running

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Runs everything that was built since the last time, and waits until it has ended."""
        job = self._submit(job_name)
        try:
            return job.result_future().result()
        except KeyboardInterrupt:
            job.cancel()
            raise

    def execute_async(self, job_name: str = _DEFAULT_JOB_NAME) -> JobClient:
        """Starts everything that was built since the last time, and returns at once."""
        return JobClient(self._submit(job_name))

    def get_execution_plan(self) -> str:
        """The plan of what would run now, as JSON."""
        request = self._request(None)
        return execution_plan_json(build_stream_graph(request.sinks, request.parallelism, request.max_parallelism))

    def close(self) -> None:
        """Forgets what was built and not run."""
        self._operators.clear()

    def _add_operator(self, node: Node) -> None:
        self._operators.append(node)

    def _submit(self, job_name: str | None) -> RunningJob:
        self._state_backend.renew()
        request = self._request(job_name)
        options.validate(self._configuration)
        # As in Flink, even when the job cannot be started: the next one begins empty.
        self._operators.clear()
        return self._run(request)

    def _submit_ends(self, job_name: str | None, ends: tuple[Node, ...]) -> RunningJob:
        """Runs what leads to these ends, which are nobody else's, and leaves the rest of the program as it is."""
        self._state_backend.renew()
        request = self._request(job_name, ends)
        options.validate(self._configuration)
        return self._run(request)

    def _run(self, request: JobRequest) -> RunningJob:
        instead = current_run_options().instead_of_running
        if instead is not None:
            instead(request)
        if self._executor is None:
            self._executor = default_executor()
        return self._executor.submit(request)

    def _request(self, job_name: str | None, ends: tuple[Node, ...] = ()) -> JobRequest:
        ends = ends or self._ends()
        if not ends:
            raise ProgramError(
                "No operators defined in streaming topology. Cannot execute. Build on a source first (for"
                " instance ds.print()); what has been executed once is not executed again."
            )
        max_parallelism = self.get_max_parallelism()
        return JobRequest(
            name=self._job_name(job_name),
            sinks=ends,
            configuration=self._configuration.to_dict(),
            parallelism=self.get_parallelism(),
            max_parallelism=max_parallelism if max_parallelism > 0 else None,
            chaining=self.is_chaining_enabled(),
            batch_mode=self._runs_as_batch(ends),
            job_parameters=self._config.get_global_job_parameters(),
            auto_watermark_interval_ms=self._config.get_auto_watermark_interval(),
            dependencies=self._python_dependencies(),
        )

    def _job_name(self, given: str | None) -> str:
        """Who types --name wants it whatever the program says."""
        named_in_program = given or options.value_of(self._configuration, "pipeline.name")
        return current_run_options().job_name or named_in_program or _DEFAULT_JOB_NAME

    def _ends(self) -> tuple[Node, ...]:
        """Operators after which nothing follows: sinks, and functions that are run only for what they do."""
        consumed = {upstream.node.id for node in self._operators for upstream in node.upstreams}
        return tuple(node for node in self._operators if node.id not in consumed)

    def _has_an_end(self) -> bool:
        """Whether what was built reads bounded sources only."""
        return all(_is_bounded(node) for node in _sources_of(self._ends()))

    def _runs_as_batch(self, ends: tuple[Node, ...]) -> bool:
        mode = self._runtime_mode()
        if mode is RuntimeExecutionMode.STREAMING:
            return False
        unbounded = [node for node in _sources_of(ends) if not _is_bounded(node)]
        if unbounded and mode is RuntimeExecutionMode.BATCH:
            raise ProgramError(
                f"The source {unbounded[0].name!r} ({unbounded[0].origin}) is unbounded, which the runtime"
                " mode BATCH does not allow: use STREAMING or AUTOMATIC."
            )
        return not unbounded

    # What has no counterpart on Spark

    def add_jars(self, *jars_path: str) -> None:
        """Accepted, with a note, for Flink's connectors and formats, of which Penstock has its own; else refused."""
        _pass_over("add_jars", jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """As add_jars()."""
        _pass_over("add_classpaths", classpaths)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Accepted with a warning: PyFlink's functions cannot read the distributed cache."""
        warnings.warn(
            f"register_cached_file({file_path!r}) has no effect: only Java functions could read the distributed cache."
            " add_python_archive() brings files to Python functions, which open them by a relative path.",
            stacklevel=2,
        )


def _pass_over(method: str, jars: tuple[str, ...]) -> None:
    others = unknown_jars(jars)
    if others:
        raise NotSupportedError(
            f"{method}{tuple(others)!r}: no Java code of Flink runs on Penstock. Connectors are Python (see"
            " penstock.datastream.connectors); jars for Spark itself go into the option spark.jars."
        )
    for jar in jars:
        name = jar.rpartition("/")[2]
        print(f"penstock: {name} is not needed and not loaded: connectors here are Python", file=sys.stderr)


def _sources_of(ends: tuple[Node, ...]) -> list[Node]:
    seen: dict[int, Node] = {}
    waiting = list(ends)
    while waiting:
        node = waiting.pop()
        if node.id not in seen:
            seen[node.id] = node
            waiting.extend(upstream.node for upstream in node.upstreams)
    return sorted((node for node in seen.values() if node.is_source), key=lambda node: node.id)


def _is_bounded(source: Node) -> bool:
    frame = source.params.get("spark_frame")
    return not frame.isStreaming if frame is not None else bool(source.params["source"].bounded)


def default_executor() -> Executor:
    """Spark, imported only when a program runs: building a graph must not wait for it."""
    from penstock.engines.spark.executor import SparkExecutor

    return SparkExecutor()
