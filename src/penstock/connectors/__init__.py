"""Sources and sinks of the systems that a job reads and writes, each system in a folder or file of its own.

Whoever writes connectors imports the interfaces from here; docs/connectors-own.md explains them with an example each.
"""

from penstock.functions.bad_records import BadRecord, BadRecords
from penstock.functions.sink import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext
from penstock.functions.source import (
    EnumeratorContext,
    Fetch,
    ReaderContext,
    Source,
    SourceReader,
    Split,
    SplitEnumerator,
)
from penstock.functions.two_phase_commit import TwoPhaseCommitSinkFunction
from penstock.functions.write_ahead import CheckpointCommitter, GenericWriteAheadSink

__all__ = [
    "BadRecord",
    "BadRecords",
    "CheckpointCommitter",
    "Committer",
    "CommitterContext",
    "EnumeratorContext",
    "Fetch",
    "GenericWriteAheadSink",
    "ReaderContext",
    "Records",
    "Sink",
    "SinkWriter",
    "Source",
    "SourceReader",
    "Split",
    "SplitEnumerator",
    "TwoPhaseCommitSinkFunction",
    "WriterContext",
]
