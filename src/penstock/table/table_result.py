"""The result of a statement: rows that are known already, or that a job gives while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from penstock.columns.typesystem.scalars import MAX_LENGTH, VarCharType
from penstock.common.errors import ProgramError
from penstock.common.job_client import JobClient
from penstock.common.types import Row
from penstock.runtime.batch import KIND
from penstock.runtime.table.codec import TableCodec
from penstock.table.catalog.resolved_schema import ResolvedSchema
from penstock.table.logical.nodes import Field, Fields
from penstock.table.physical.table_stream import row_type_of
from penstock.table.result_kind import ResultKind
from penstock.table.session.table_picture import cells, picture, width_by_content, width_by_type
from penstock.table.table_schema import TableSchema

if TYPE_CHECKING:
    import pandas

    from penstock.control.running_job import RunningJob

__all__ = ["CloseableIterator", "TableResult"]

_KINDS = ("+I", "-U", "+U", "-D")


class TableResult:
    """What ``execute_sql()`` and ``execute()`` return.

    ``print()`` draws the rows as Flink does, ``collect()`` gives them as Rows with their kinds, ``to_pandas()`` and
    ``to_arrow()`` (beyond PyFlink) as columns. Of an unbounded query they come as the job gives them.
    """

    def __init__(
        self,
        j_table_result: Any = None,
        *,
        fields: Fields = (),
        batches: Callable[[], Iterator[pa.RecordBatch]] | None = None,
        job: RunningJob | None = None,
        kind: int = ResultKind.SUCCESS_WITH_CONTENT,
        style: str = "content",
        zone: str = "UTC",
        changes: bool = False,
    ) -> None:
        if batches is None:
            raise ProgramError("A TableResult is made by execute_sql() and execute(), not by programs.")
        self._fields = fields
        self._batches = batches
        self._job = job
        self._kind = kind
        self._style = style
        self._zone = zone
        self._changes = changes

    @staticmethod
    def of_rows(names: list[str], rows: list[tuple[Any, ...]], types: list[Any] | None = None) -> TableResult:
        """Rows that are known."""
        kinds = types or [VarCharType(MAX_LENGTH)] * len(names)
        fields = tuple(Field(name, kind) for name, kind in zip(names, kinds, strict=True))
        codec = TableCodec(row_type_of(fields))
        return TableResult(fields=fields, batches=lambda: iter([codec.encode(list(rows))]))

    @staticmethod
    def of_text(text: str, kind: int = ResultKind.SUCCESS_WITH_CONTENT) -> TableResult:
        """A text that is printed as it is."""
        result = TableResult.of_rows(["result"], [(text,)])
        result._kind, result._style = kind, "raw"
        return result

    @staticmethod
    def ok() -> TableResult:
        return TableResult.of_text("OK", ResultKind.SUCCESS)

    def get_job_client(self) -> JobClient | None:
        """The running job; None for statements that started none."""
        return None if self._job is None else JobClient(self._job)

    def wait(self, timeout_ms: int | None = None) -> None:
        """Waits until the job has ended. Of a SELECT, its rows must be collected by somebody meanwhile."""
        if self._job is None:
            return
        try:
            self._job.result_future().result(None if timeout_ms is None else timeout_ms / 1000)
        except TimeoutError:
            raise ProgramError(f"The job has not ended within {timeout_ms} ms.") from None

    def get_table_schema(self) -> TableSchema:
        return TableSchema([field.name for field in self._fields], [field.data_type for field in self._fields])

    def get_resolved_schema(self) -> ResolvedSchema:
        return ResolvedSchema.physical([f.name for f in self._fields], [f.data_type for f in self._fields])

    def get_result_kind(self) -> int:
        return self._kind

    def collect(self) -> CloseableIterator:
        """The rows one by one, with their kinds; close it, or use it in a ``with``, to end a job that does not end."""
        return CloseableIterator(None, None, rows=self._rows(), job=self._job)

    def print(self) -> None:
        """Draws the rows on standard output."""
        for line in self._lines():
            print(line)

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table; those of a changelog have their kinds in the column ``$kind``."""
        names = [field.name for field in self._fields]
        schema = TableCodec(row_type_of(self._fields)).schema
        pieces = [self._with_kinds(batch) if self._changes else _fields_of(batch) for batch in self._batches()]
        if self._changes:
            schema = schema.append(pa.field(KIND, pa.int8()))
            names = [*names, KIND]
        return pa.Table.from_batches(pieces, schema).rename_columns(names)

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a DataFrame."""
        return self.to_arrow().to_pandas()

    def _with_kinds(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if KIND in batch.schema.names:
            return batch
        return batch.append_column(KIND, pa.array([0] * batch.num_rows, pa.int8()))

    def _rows(self) -> Iterator[Row]:
        codec = TableCodec(row_type_of(self._fields))
        for batch in self._batches():
            for row in codec.decode(batch):
                row._fields = None  # as PyFlink gives them
                row._values = list(row._values)
                yield row

    def _lines(self) -> Iterator[str]:
        names = [field.name for field in self._fields]
        if self._style == "raw":
            for batch in self._batches():
                columns = [column.to_pylist() for column in batch.columns]
                yield from (", ".join(map(str, row)) for row in zip(*columns, strict=True))
            return
        if self._style == "content":
            rows = [row for batch in self._batches() for row in self._texts(batch)]
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
            widths = [width_by_content(name, texts) for name, texts in zip(names, columns, strict=True)]
            yield from picture(names, widths, rows)
            return
        widths = [width_by_type(field.name, field.data_type) for field in self._fields]
        if self._style == "changes":
            names, widths = ["op", *names], [2, *widths]
        yield from picture(names, widths, (row for batch in self._batches() for row in self._texts(batch)))

    def _texts(self, batch: pa.RecordBatch) -> Iterator[tuple[str, ...]]:
        columns = [cells(batch.column(place), f.data_type, self._zone) for place, f in enumerate(self._fields)]
        if self._style == "changes":
            has_kinds = KIND in batch.schema.names
            kinds = batch.column(KIND).to_pylist() if has_kinds else [0] * batch.num_rows
            columns = [[_KINDS[kind] for kind in kinds], *columns]
        return zip(*columns, strict=True)


def _fields_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    names = batch.schema.names
    return batch.remove_column(names.index(KIND)) if KIND in names else batch


class CloseableIterator(Iterator[Any]):
    """Iterates over the rows of a result; closing it cancels the job behind it."""

    def __init__(
        self, j_closeable_iterator: Any, field_data_types: Any, *, rows: Iterator[Row], job: RunningJob | None = None
    ) -> None:
        self._rows = rows
        self._job = job

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        return next(self._rows)

    def next(self) -> Row:
        return self.__next__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._rows = iter(())
        if self._job is not None and not self._job.status().is_terminal_state():
            self._job.cancel()
