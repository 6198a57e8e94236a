"""The source of files, and the formats that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.common.errors import ProgramError
from penstock.common.time import Duration
from penstock.common.typeinfo import TypeInformation
from penstock.common.utils import refuse_java_object
from penstock.connectors.base import Source
from penstock.connectors.files.location import file_location
from penstock.connectors.files.reading import Files
from penstock.formats.input_formats import BulkFormat, InputFormat, StreamFormat
from penstock.functions.bad_records import BadRecords

if TYPE_CHECKING:
    from penstock.runtime.sources.base import SourcePlanner

__all__ = [
    "BulkFormat",
    "FileEnumeratorProvider",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "StreamFormat",
]


class FileEnumeratorProvider:
    """Whether large files may be split over subtasks. Files whose names begin with ``.`` or ``_`` are left out."""

    def __init__(self, j_file_enumerator_provider: Any = None, *, splits_files: bool = True) -> None:
        refuse_java_object(
            "FileEnumeratorProvider",
            "j_file_enumerator_provider",
            j_file_enumerator_provider,
            "Use FileEnumeratorProvider.default_splittable_file_enumerator().",
        )
        self._splits_files = splits_files

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Splits large files where their format allows it. This is the default."""
        return FileEnumeratorProvider()

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Each file is read by one subtask, in one go."""
        return FileEnumeratorProvider(splits_files=False)


class FileSplitAssignerProvider:
    """Who reads which part of which file."""

    def __init__(self, j_file_split_assigner: Any = None) -> None:
        refuse_java_object(
            "FileSplitAssignerProvider",
            "j_file_split_assigner",
            j_file_split_assigner,
            "Use FileSplitAssignerProvider.locality_aware_split_assigner().",
        )

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """The only one, and the default: all workers reach a shared file system equally well."""
        return FileSplitAssignerProvider()


class FileSourceBuilder:
    """Settings of a :class:`FileSource`."""

    def __init__(self, file_format: Any, paths: tuple[str, ...] = ()) -> None:
        if not isinstance(file_format, InputFormat):
            raise ProgramError(
                f"FileSource reads a StreamFormat or a BulkFormat, such as StreamFormat.text_line_format(),"
                f" not {file_format!r}."
            )
        if not paths:
            raise ProgramError("FileSource needs at least one path of a file or directory.")
        self._format = file_format
        self._paths = [file_location(path, "FileSource") for path in paths]
        self._interval_ms: int | None = None
        self._enumerator = FileEnumeratorProvider()
        self._bad_records: BadRecords | None = None

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Never ends: looks for new files at this interval. Each path is read once, as it is when it is found."""
        if not isinstance(discovery_interval, Duration):
            raise ProgramError(f"monitor_continuously takes a Duration, not {discovery_interval!r}.")
        interval = discovery_interval.to_millis()
        if interval <= 0:
            raise ValueError(f"monitor_continuously needs an interval above 0, not {discovery_interval!r}.")
        self._interval_ms = interval
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Ends when the files that are there at the start have been read. This is the default."""
        self._interval_ms = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        if not isinstance(file_enumerator, FileEnumeratorProvider):
            raise ProgramError(f"set_file_enumerator takes a FileEnumeratorProvider, not {file_enumerator!r}.")
        self._enumerator = file_enumerator
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """There is only :meth:`FileSplitAssignerProvider.locality_aware_split_assigner`, the default."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise ProgramError(f"set_split_assigner takes a FileSplitAssignerProvider, not {split_assigner!r}.")
        return self

    def set_bad_records(self, bad_records: BadRecords) -> FileSourceBuilder:
        """What becomes of lines of ``StreamFormat.message_line_format`` that cannot be decoded (beyond PyFlink)."""
        if not isinstance(bad_records, BadRecords):
            raise ProgramError(f"set_bad_records takes BadRecords.fail(), skip() or to(tag), not {bad_records!r}.")
        if not self._format.tells_bad_records:
            raise ProgramError(
                "set_bad_records is for lines that a schema reads, StreamFormat.message_line_format(schema): files of"
                " other formats are read as a whole or not at all."
            )
        self._bad_records = bad_records
        return self

    def build(self) -> FileSource:
        source = FileSource(None, self._format, self._paths, self._interval_ms, self._enumerator._splits_files)
        source.bad_records = self._bad_records
        return source


class FileSource(Source):
    """Reads files, and directories with all files below them.

    Example::

        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "logs").build()
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "logs")

    Paths may be URIs of any store that fsspec reaches, such as ``s3://bucket/logs``; see docs/connectors/files.md.
    Files whose names begin with ``.`` or ``_`` are left out. A file must not change while it is read.
    """

    def __init__(
        self,
        j_file_source: Any = None,
        file_format: Any = None,
        paths: list[str] | None = None,
        discovery_interval_ms: int | None = None,
        splits_files: bool = True,
    ) -> None:
        super().__init__(j_file_source)
        if file_format is None or not paths:
            raise ProgramError("Make a FileSource with FileSource.for_record_stream_format(...).build().")
        self._format = file_format
        self._paths = paths
        self._interval_ms = discovery_interval_ms
        self._splits_files = splits_files

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Reads text lines, CSV and other formats made of records."""
        return FileSourceBuilder(stream_format, paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Reads Parquet and other formats made of batches."""
        return FileSourceBuilder(bulk_format, paths)

    def _planner(self) -> SourcePlanner:
        file_format = self._format._file_format(self._splits_files)
        return Files(file_format, self._paths, self._interval_ms, bad_records=self.bad_records)

    def get_produced_type(self) -> TypeInformation | None:
        produced: TypeInformation | None = self._format._produced_type()
        return produced
