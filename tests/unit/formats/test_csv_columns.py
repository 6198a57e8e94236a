"""Reading CSV as columns gives what reading it record by record gives, on random and on odd files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.formats.csv import CsvReaderFormat
from penstock.formats.csv_dialect import CsvDialect
from penstock.formats.csv_records import CsvRecords
from penstock.formats.csv_schema import CsvSchema, CsvSchemaBuilder
from penstock.runtime.batch import Batch


def schema(*types: Any) -> CsvSchemaBuilder:
    builder = CsvSchema.builder()
    for position, declared in enumerate(types):
        if declared == Types.STRING():
            builder.add_string_column(f"c{position}")
        elif declared == Types.BOOLEAN():
            builder.add_boolean_column(f"c{position}")
        else:
            builder.add_number_column(f"c{position}", declared)
    return builder


def reader_of(builder: CsvSchemaBuilder) -> CsvRecords:
    records = CsvReaderFormat.for_schema(builder.build())._file_format(True)
    assert isinstance(records, CsvRecords)
    return records


def outcome(parts: Any) -> tuple[list[Any], str | None]:
    """All records, and the error at which reading ended."""
    found: list[Any] = []
    try:
        for part in parts:
            found += part.values if isinstance(part, Batch) else part
    except JobExecutionError as error:
        return found, str(error)
    return found, None


def check_same(reader: CsvRecords, path: Path) -> None:
    # repr: it tells 1 from 1.0 and True, 0.0 from -0.0, and every NaN is equal to itself.
    by_columns, by_rows = outcome(reader.read_all(str(path))), outcome(reader._read_rows(str(path), 0))
    assert by_columns[1] == by_rows[1]
    if by_rows[1] is None:
        assert repr(by_columns) == repr(by_rows)
    else:  # how many of the records before the error were given away already depends on blocks
        assert repr(by_columns[0])[:-1].startswith(repr(by_rows[0])[:-1])


TYPES = [Types.STRING(), Types.LONG(), Types.BYTE(), Types.DOUBLE(), Types.BOOLEAN()]
ODD = ("true", "False", "TRUE", "t", "", " 7 ", "+7", "0x1F", "1_0", "nan(1)", "inf", "NA", '"NA"', " NA")
fields = st.one_of(
    st.integers(-200, 200).map(str),
    st.floats().map(repr),
    st.sampled_from(
        ("true", "False", "TRUE", "t", "", " 7 ", "+7", "0x1F", "1_0", "nan(1)", "inf", "NA", '"NA"', " NA")
    ),
    st.text("a\"', 1\n\r\té", max_size=5),
    st.text("a,é\n", max_size=5).map(lambda text: f'"{text}"'),
)
files = st.lists(st.lists(fields, min_size=1, max_size=3).map(",".join), max_size=6).map("\n".join)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    files,
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=3),
    st.sampled_from((None, "", "NA")),
    st.booleans(),
    st.sampled_from(('"', None)),
)
def test_random_files(
    tmp_path: Path, content: str, types: list[Any], null: str | None, header: bool, quote: str | None
) -> None:
    builder = schema(*types).set_use_header(header)
    builder = builder.disable_quote_char() if quote is None else builder
    builder = builder if null is None else builder.set_null_value(null)
    path = tmp_path / "file.csv"
    path.write_bytes(content.encode())
    check_same(reader_of(builder), path)


@pytest.mark.parametrize(
    "content",
    [
        b"1,a\n2,b\n",
        b"1,a\r\n2,b\r\n",
        b"1,a\r2,b\r",
        b"1,a\n\n2,b\n",
        b"\n1,a\n",
        b"\xef\xbb\xbf1,a\n",
        b"1,\xff\n",
        b"1,a\n2\n",
        b"1,a\n2,b,c\n",
        b"1,a\n99999999999999999999,b\n",
        b'1,"a\nb"\n2,"""c"""\n',
        b'1,"a',
        b"1,a\n" * 200_000 + b"0x2,b\n1,c\n",
        b"1,a\n" * 200_000 + b"one,b\n",
    ],
    ids=lambda content: repr(content[-40:]),
)
def test_odd_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    check_same(reader_of(schema(Types.LONG(), Types.STRING())), path)


@pytest.mark.parametrize("size", range(1, 8))
@pytest.mark.parametrize("ending", [b"\n\n3,c\n", b"\r\n\r\n3,c\n", b"\r3,c\n", b"\n0x3,c\n", b'\n3,"c\n"\n'])
def test_what_is_read_differently_is_found_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: bytes, size: int
) -> None:
    monkeypatch.setattr("penstock.formats.compression._BLOCK", size)
    path = tmp_path / "file.csv"
    for before in (b"1,a", b"1,a\n2,b", b"1,a\r\n2,bc"):
        path.write_bytes(before + ending)
        check_same(reader_of(schema(Types.LONG(), Types.STRING())), path)


def test_plain_files_stay_columns(tmp_path: Path) -> None:
    path = tmp_path / "file.csv.gz"
    path.write_bytes(gzip.compress(b"id;name\n" + b"1;a\n" * 300_000))
    reader = reader_of(schema(Types.LONG(), Types.STRING()).set_use_header().set_column_separator(";"))
    parts = list(reader.read_all(str(path)))
    assert all(isinstance(part, Batch) and part._values is None for part in parts)
    assert sum(map(len, parts)) == 300_000


@pytest.mark.parametrize(
    "builder",
    [
        schema(Types.LONG()).set_escape_char("\\"),
        schema(Types.LONG()).set_allow_comments(),
        schema(Types.FLOAT()),
        schema(Types.BIG_DEC()),
        schema(Types.LONG()).set_column_separator("ü"),
    ],
)
def test_what_columns_cannot_do_is_read_as_rows(tmp_path: Path, builder: CsvSchemaBuilder) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(b"1\n2\n")
    [rows] = reader_of(builder).read_all(str(path))
    assert isinstance(rows, list) and len(rows) == 2


@pytest.mark.parametrize("chosen", [[0], [2], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize(
    "content",
    [b'1,"a\n1",x\n2,b,y\n', b'1,a,x\n\n2,b,"y"\n', b"1,a,x\n2,b\n", b"\xef\xbb\xbf1,a,x\n", b"1,a,x\r2,b,y\r"],
)
def test_some_columns(tmp_path: Path, content: bytes, chosen: list[int]) -> None:
    """Each row has the chosen fields of the whole row, and files that cannot be read fail in the same way."""
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    names = ["c0", "c1", "c2"]
    rows = {"names": names, "types": [Types.STRING()] * 3, "separators": [";"] * 3, "null_literal": "b"}
    whole = CsvRecords(CsvDialect(null_literal="b"), names, rows, False, False, False)
    some = CsvRecords(CsvDialect(null_literal="b"), names, rows, False, False, False, chosen)
    expected, failure = outcome(whole.read_all(str(path)))
    narrow = [Row._of([row[place] for place in chosen], [names[place] for place in chosen]) for row in expected]
    assert outcome(some.read_all(str(path))) == (narrow, failure)
    check_same(some, path)
