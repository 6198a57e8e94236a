"""Sinks that write part files, visible exactly once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.serialization import BulkWriterFactory, Encoder
from penstock.connectors.base import Sink, StreamTransformer, SupportsPreprocessing
from penstock.connectors.files.bucket_assigners import BucketAssigner
from penstock.connectors.files.commit import FileCommitter
from penstock.connectors.files.compacting import CompactingCommitter
from penstock.connectors.files.compaction import FileCompactor, FileCompactStrategy
from penstock.connectors.files.location import file_location
from penstock.connectors.files.output_file_config import OutputFileConfig
from penstock.connectors.files.rolling_policies import (
    DefaultRollingPolicy,
    OnCheckpointRollingPolicy,
    RollingPolicy,
)
from penstock.connectors.files.success_markers import MarkingCommitter, SuccessMarkers
from penstock.connectors.files.writer import FileSettings, FileWriter
from penstock.functions.sink import Committer, CommitterContext, SinkWriter, WriterContext
from penstock.functions.source_sink import SinkFunction

__all__ = ["FileSink", "StreamingFileSink"]

_Builder = TypeVar("_Builder", bound="_SinkBuilder")
_MINUTE = 60_000


class _SinkBuilder:
    """The settings that all file sinks have."""

    def __init__(self, base_path: str, owner: str) -> None:
        self._owner = owner
        self._params: dict[str, Any] = {
            "base_path": file_location(base_path, owner),
            "bucket_assigner": BucketAssigner.date_time_bucket_assigner(),
            "bucket_check_interval": _MINUTE,
        }
        self.with_output_file_config(OutputFileConfig.builder().build())

    def with_bucket_check_interval(self: _Builder, interval: int) -> _Builder:
        """How often, in milliseconds, the age and inactivity of part files are looked at."""
        if isinstance(interval, bool) or not isinstance(interval, int) or interval <= 0:
            raise ValueError(f"The bucket check interval is a number of milliseconds above 0, not {interval!r}.")
        self._params["bucket_check_interval"] = interval
        return self

    def with_bucket_assigner(self: _Builder, bucket_assigner: BucketAssigner) -> _Builder:
        """Which directory a record goes to; without this call one for each hour."""
        self._check("with_bucket_assigner", bucket_assigner, BucketAssigner)
        self._params["bucket_assigner"] = bucket_assigner
        return self

    def with_output_file_config(self: _Builder, output_file_config: OutputFileConfig) -> _Builder:
        """Prefix and suffix of the names of part files."""
        self._check("with_output_file_config", output_file_config, OutputFileConfig)
        self._params["part_prefix"] = output_file_config.get_part_prefix()
        self._params["part_suffix"] = output_file_config.get_part_suffix()
        return self

    def _check(self, method: str, given: Any, expected: type) -> None:
        if not isinstance(given, expected):
            raise ProgramError(f"{self._owner}.{method} takes a {expected.__name__}, not {given!r}.")

    def _row_format(self, encoder: Encoder) -> None:
        self._check("for_row_format", encoder, Encoder)
        self._params.update(encoder=encoder, rolling_policy=DefaultRollingPolicy())

    def _bulk_format(self, writer_factory: BulkWriterFactory) -> None:
        self._check("for_bulk_format", writer_factory, BulkWriterFactory)
        if not hasattr(writer_factory, "create"):
            raise NotSupportedError(
                f"{type(writer_factory).__name__} cannot write files: use the factory of a format such as"
                " ParquetBulkWriters, or a subclass with create(stream)."
            )
        self._params.update(writer_factory=writer_factory, rolling_policy=OnCheckpointRollingPolicy())

    def _roll_by(self, rolling_policy: Any, expected: type) -> None:
        self._check("with_rolling_policy", rolling_policy, expected)
        self._params["rolling_policy"] = rolling_policy


class FileSink(Sink, SupportsPreprocessing):
    """Writes each record into a part file of its bucket, exactly once.

    Example::

        sink = (
            FileSink.for_row_format("out", Encoder.simple_string_encoder())
            .with_output_file_config(OutputFileConfig.builder().with_part_suffix(".txt").build())
            .build()
        )
        stream.sink_to(sink)

    While a part file is written it is hidden: its name begins with a dot. It becomes visible, never to change again,
    when the rolling policy closes it or the input ends.
    """

    def __init__(self, j_file_sink: Any = None, transformer: StreamTransformer | None = None) -> None:
        super().__init__(j_file_sink)
        self._transformer = transformer
        self._settings: FileSettings | None = None

    def get_transformer(self) -> StreamTransformer | None:
        return self._transformer

    def _told(self) -> FileSettings:
        if self._settings is None:
            raise ProgramError("Make a FileSink with FileSink.for_row_format(...).build().")
        return self._settings

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return FileWriter(self._told(), context)

    def create_committer(self, context: CommitterContext) -> Committer:
        settings = self._told()
        inner: FileCommitter | CompactingCommitter = FileCommitter(settings.base_path, context.job_id)
        if settings.compaction is not None:
            inner = CompactingCommitter(settings.base_path, context.job_id, *settings.compaction)
        if settings.markers is None:
            return inner
        return MarkingCommitter(settings.base_path, settings.markers, inner)

    class BaseBuilder(_SinkBuilder):
        """Settings of a :class:`FileSink`."""

        def __init__(self, base_path: str) -> None:
            super().__init__(base_path, "FileSink")

        def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Any:
            """Committed part files stay hidden until the strategy lets the compactor put them together."""
            self._check("enable_compact", strategy, FileCompactStrategy)
            self._check("enable_compact", compactor, FileCompactor)
            if "writer_factory" in self._params and compactor.concatenates:
                raise NotSupportedError(
                    "FileSink: files of a bulk format one after the other are no file of that format. Let fewer and"
                    " larger ones arise, with longer epochs; or use FileCompactor.identical_file_compactor()."
                )
            self._params["compaction"] = (strategy, compactor)
            return self

        def disable_compact(self) -> Any:
            """Releases the files that a job with enable_compact() has left, as they are."""
            self._params["compaction"] = (None, FileCompactor.identical_file_compactor())
            return self

        def with_success_markers(self, end_of_bucket: Callable[[str], int], file_name: str = "_SUCCESS") -> Any:
            """An empty file in each bucket when all of it is there (beyond PyFlink).

            That is when the watermark of every subtask has reached ``end_of_bucket(bucket id)``, in epoch milliseconds.
            One job at a time may write into the directory.
            """
            self._params["markers"] = SuccessMarkers(end_of_bucket, file_name)
            return self

        def with_rolling_policy(self, rolling_policy: Any) -> Any:
            """When a part file is closed."""
            self._roll_by(rolling_policy, RollingPolicy)
            return self

        def build(self) -> FileSink:
            return _file_sink(self._params)

    class RowFormatBuilder(BaseBuilder):
        """Settings of a sink that writes record by record."""

        def __init__(self, base_path: str, encoder: Encoder) -> None:
            super().__init__(base_path)
            self._row_format(encoder)

    class BulkFormatBuilder(BaseBuilder):
        """Settings of a sink whose format needs whole files; every epoch writes its own."""

        def __init__(self, base_path: str, writer_factory: BulkWriterFactory) -> None:
            super().__init__(base_path)
            self._bulk_format(writer_factory)

        def with_rolling_policy(self, rolling_policy: OnCheckpointRollingPolicy) -> Any:
            self._roll_by(rolling_policy, OnCheckpointRollingPolicy)
            return self

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Writes records with an encoder, such as ``Encoder.simple_string_encoder()``."""
        return FileSink.RowFormatBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """Writes files of a format such as Parquet."""
        return FileSink.BulkFormatBuilder(base_path, writer_factory)


def _file_sink(params: dict[str, Any]) -> FileSink:
    sink = FileSink()
    sink._settings = FileSettings(**params)
    return sink


class StreamingFileSink(SinkFunction):
    """The older name of :class:`FileSink`, for ``ds.add_sink``; both write in the same way."""

    def __init__(self, j_obj: Any = None) -> None:
        super().__init__(j_obj)
        self._sink: FileSink | None = None

    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        raise NotSupportedError("StreamingFileSink is attached as a whole by ds.add_sink; invoke is not called.")

    def _as_sink(self) -> FileSink:
        if self._sink is None:
            raise ProgramError("Make a StreamingFileSink with StreamingFileSink.for_row_format(...).build().")
        return self._sink

    class BaseBuilder(_SinkBuilder):
        """Settings of a :class:`StreamingFileSink`."""

        def __init__(self, base_path: str) -> None:
            super().__init__(base_path, "StreamingFileSink")

        def with_rolling_policy(self, policy: Any) -> Any:
            self._roll_by(policy, RollingPolicy)
            return self

        def build(self) -> StreamingFileSink:
            sink = StreamingFileSink()
            sink._sink = _file_sink(self._params)
            return sink

    class DefaultRowFormatBuilder(BaseBuilder):
        """Settings of a sink that writes record by record."""

        def __init__(self, base_path: str, encoder: Encoder) -> None:
            super().__init__(base_path)
            self._row_format(encoder)

    class DefaultBulkFormatBuilder(BaseBuilder):
        """Settings of a sink whose format needs whole files."""

        def __init__(self, base_path: str, writer_factory: BulkWriterFactory) -> None:
            super().__init__(base_path)
            self._bulk_format(writer_factory)

        def with_rolling_policy(self, policy: OnCheckpointRollingPolicy) -> Any:
            self._roll_by(policy, OnCheckpointRollingPolicy)
            return self

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> StreamingFileSink.DefaultRowFormatBuilder:
        return StreamingFileSink.DefaultRowFormatBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        return StreamingFileSink.DefaultBulkFormatBuilder(base_path, writer_factory)
