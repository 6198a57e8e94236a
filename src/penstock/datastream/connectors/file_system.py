"""Files as source and sink, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.connectors.files.bucket_assigners import BucketAssigner
from penstock.connectors.files.compaction import FileCompactor, FileCompactStrategy
from penstock.connectors.files.output_file_config import OutputFileConfig
from penstock.connectors.files.rolling_policies import (
    DefaultRollingPolicy,
    OnCheckpointRollingPolicy,
    RollingPolicy,
)
from penstock.connectors.files.sink import FileSink, StreamingFileSink
from penstock.connectors.files.source import (
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
)
from penstock.formats.input_formats import BulkFormat, StreamFormat

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
