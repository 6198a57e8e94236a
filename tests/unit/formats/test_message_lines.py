"""Files of messages in lines: the same records as message by message, wherever files are cut."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.types import Row
from penstock.connectors import BadRecords
from penstock.datastream import OutputTag
from penstock.datastream.connectors.file_system import FileSource, StreamFormat
from penstock.datastream.formats.json import JsonRowDeserializationSchema
from penstock.formats.message_lines import MessageLines
from penstock.runtime.batch import Batch

TYPE = Types.ROW_NAMED(["id", "name", "price"], [Types.LONG(), Types.STRING(), Types.DOUBLE()])
SCHEMA = JsonRowDeserializationSchema.builder().type_info(TYPE).build()


def objects(count: int, seed: int = 1) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    found = [{"id": n, "name": f"näme {n}", "price": n / 4} for n in range(count)]
    return [{key: value for key, value in each.items() if key == "id" or chance.random() < 0.9} for each in found]


def row_of(each: dict[str, Any]) -> Row:
    return Row("id", "name", "price")(each["id"], each.get("name"), each.get("price"))


def written(path: Path, rows: list[dict[str, Any]], end: str = "\n") -> Path:
    text = end.join(json.dumps(row, ensure_ascii=False) for row in rows) + end
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def records(path: Path, cuts: list[int]) -> list[Any]:
    lines = MessageLines(SCHEMA)
    extent = lines.extent(str(path), path.stat().st_size)
    borders = [0, *sorted(min(cut, extent) for cut in cuts), extent]
    parts = [lines.read(str(path), start, end, extent) for start, end in zip(borders, borders[1:], strict=False)]
    return [
        record for part in parts for some in part for record in (some.values if isinstance(some, Batch) else list(some))
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_every_line_once_wherever_the_file_is_cut(tmp_path: Path, name: str, end: str) -> None:
    rows = objects(300)
    path = written(tmp_path / name, rows, end)
    chance = random.Random(7)
    for _ in range(20):
        cuts = [] if name.endswith("gz") else [chance.randrange(path.stat().st_size) for _ in range(4)]
        assert records(path, cuts) == [row_of(row) for row in rows]


def test_plain_lines_are_read_as_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", objects(300))
    lines = MessageLines(SCHEMA)
    found = list(lines.read(str(path), 0, path.stat().st_size, path.stat().st_size))
    assert all(isinstance(batch, Batch) and batch.field(0) is not None for batch in found)


def source(path: Path, choice: BadRecords | None = None) -> FileSource:
    builder = FileSource.for_record_stream_format(StreamFormat.message_line_format(SCHEMA), str(path))
    return (builder if choice is None else builder.set_bad_records(choice)).build()


@pytest.mark.parametrize("epoch_records", [7, 1_000_000])
def test_a_program(local_env: EnvironmentFactory, tmp_path: Path, epoch_records: int) -> None:
    rows = objects(50)
    written(tmp_path / "a.json", rows[:20])
    written(tmp_path / "b.json", rows[20:])
    env = local_env(2, epoch_records)
    stream = env.from_source(source(tmp_path), WatermarkStrategy.no_watermarks(), "rows")
    with stream.map(lambda row: row.id, Types.LONG()).execute_and_collect() as results:
        assert sorted(results) == list(range(50))


def test_lines_that_cannot_be_read(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\nnothing\n{"id": 2}\n')
    stream = local_env(1).from_source(source(tmp_path), WatermarkStrategy.no_watermarks(), "rows")
    with pytest.raises(JobExecutionError, match=r"a line of .*a\.json cannot be decoded.*nothing"):
        list(stream.execute_and_collect())
    skipping = local_env(1).from_source(source(tmp_path, BadRecords.skip()), WatermarkStrategy.no_watermarks(), "rows")
    assert [row.id for row in skipping.execute_and_collect()] == [1, 2]
    broken = OutputTag("broken", BadRecords.TYPE)
    told = local_env(1).from_source(source(tmp_path, BadRecords.to(broken)), WatermarkStrategy.no_watermarks(), "rows")
    assert [bad[0] for bad in told.get_side_output(broken).execute_and_collect()] == [b"nothing"]


def test_only_schemas_read_lines() -> None:
    with pytest.raises(ProgramError, match="DeserializationSchema"):
        StreamFormat.message_line_format("json")  # type: ignore[arg-type]
