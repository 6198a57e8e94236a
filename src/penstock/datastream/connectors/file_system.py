"""Files as source and sink, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.datastream.connectors.bucket_assigners import BucketAssigner
from penstock.datastream.connectors.file_compaction import FileCompactor, FileCompactStrategy
from penstock.datastream.connectors.file_sink import FileSink, StreamingFileSink
from penstock.datastream.connectors.file_source import (
    BulkFormat,
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    StreamFormat,
)
from penstock.datastream.connectors.output_file_config import OutputFileConfig
from penstock.datastream.connectors.rolling_policies import (
    DefaultRollingPolicy,
    OnCheckpointRollingPolicy,
    RollingPolicy,
)

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]
