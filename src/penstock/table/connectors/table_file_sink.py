"""The sink of file tables: plain, overwriting, or with partitions that are told to be complete."""

from __future__ import annotations

from dataclasses import replace

from penstock.connectors.files.commit import FileCommitter
from penstock.connectors.files.writer import FileSettings
from penstock.functions.sink import Committer, CommitterContext, Sink, SinkWriter, WriterContext
from penstock.table.connectors.overwriting_files import (
    OverwritingCommitter,
    OverwritingWriter,
    Overwritten,
    own_prefix,
)
from penstock.table.connectors.partition_commit import PartitionCommit
from penstock.table.connectors.partition_files import PartitionCommitter, PartitionWriter
from penstock.table.connectors.table_file_writer import FileLayout, TableFileWriter


class TableFileSink(Sink):
    """Lines of an encoder, or files of a bulk format's writers."""

    def __init__(
        self,
        settings: FileSettings,
        layout: FileLayout,
        overwritten: Overwritten | None = None,
        partitions: PartitionCommit | None = None,
    ) -> None:
        super().__init__()
        self._settings = settings
        self._layout = layout
        self._overwritten = overwritten
        self._partitions = partitions

    def create_writer(self, context: WriterContext) -> SinkWriter:
        if self._overwritten is not None:
            return OverwritingWriter(
                replace(self._settings, part_prefix=own_prefix(context.job_id)), context, self._layout
            )
        if self._partitions is not None:
            return PartitionWriter(self._settings, context, self._layout, self._partitions)
        return TableFileWriter(self._settings, context, self._layout)

    def create_committer(self, context: CommitterContext) -> Committer:
        base = self._settings.base_path
        if self._overwritten is not None:
            return OverwritingCommitter(base, context.job_id, self._overwritten)
        if self._partitions is not None:
            return PartitionCommitter(base, context, self._partitions)
        return FileCommitter(base, context.job_id)
