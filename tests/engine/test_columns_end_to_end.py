"""A stream of typed rows that only built-ins touch never becomes Python objects, from file to file."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Types, WatermarkStrategy
from penstock.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
from penstock.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from penstock.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from penstock.runtime.batch import Batch

ROWS = 30_000
NAMED = Types.ROW_NAMED(["name", "amount"], [Types.STRING(), Types.LONG()])


def records() -> Iterator[tuple[str, int]]:
    for number in range(ROWS):
        yield f"user {number % 70}", number % 9


def expected() -> list[str]:
    sums: dict[str, int] = {}
    lines = []
    for name, amount in records():
        if amount > 2:
            sums[name] = sums.get(name, 0) + amount
            lines.append(f'"{name}",{sums[name]}')
    return sorted(lines)


def more_than_two(columns: pa.RecordBatch) -> Any:
    return pc.greater(columns.column(1), 2)


def schema() -> CsvSchema:
    return CsvSchema.builder().add_string_column("name").add_number_column("amount").build()


def source(kind: str, directory: Path) -> FileSource:
    directory.mkdir()
    names, amounts = zip(*records(), strict=True)
    if kind == "csv":
        (directory / "in.csv").write_text("".join(f'"{name}",{amount}\n' for name, amount in records()))
        return FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema()), str(directory)).build()
    pyarrow.parquet.write_table(pa.table({"name": names, "amount": amounts}), directory / "in.parquet")
    return FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(NAMED), str(directory)).build()


def lines_of(kind: str, directory: Path) -> list[str]:
    found: list[str] = []
    for path in directory.rglob("*"):
        if path.is_file() and kind == "csv":
            found += path.read_text().splitlines()
        elif path.is_file():
            found += [f'"{row["name"]}",{row["amount"]}' for row in pyarrow.parquet.read_table(path).to_pylist()]
    return sorted(found)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_read_filtered_keyed_summed_and_written(
    kind: str, local_env: EnvironmentFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def poisoned(batch: Batch) -> Any:
        raise AssertionError("somebody asks for the records of a batch as Python objects")

    env = local_env(2)
    rows = env.from_source(source(kind, tmp_path / "in"), WatermarkStrategy.no_watermarks(), "rows")
    some = rows._transform("calc", "Calc", (more_than_two,), output_type=NAMED, params={"input_type": NAMED})
    factory = CsvBulkWriters.for_schema(schema()) if kind == "csv" else ParquetBulkWriters.for_row_type(NAMED)
    sink = FileSink.for_bulk_format(str(tmp_path / "out"), factory)
    sums = some.key_by(itemgetter(0), Types.STRING()).sum(1)
    sums.sink_to(sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    monkeypatch.setattr(Batch, "values", property(poisoned))
    env.execute("columns")
    monkeypatch.undo()
    assert lines_of(kind, tmp_path / "out") == expected()
