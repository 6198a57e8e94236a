"""CSV files and messages; the expected values were seen on PyFlink 2.3."""

from __future__ import annotations

import pickle
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.datastream.connectors.file_system import FileSource
from penstock.datastream.formats.csv import (
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
    CsvSchemaBuilder,
)


class BigIntType:
    """Stands for DataTypes.BIGINT() of the Table API."""


class DecimalType:
    precision, scale = 5, 2


def read(builder: CsvSchemaBuilder, tmp_path: Path, text: str) -> list[Any]:
    (tmp_path / "x.csv").write_bytes(text.encode())
    built = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(builder.build()), str(tmp_path)).build()
    source = built._planner()
    start = source.initial_position(1)
    work = source.assignments(start, source.advance(start, 1000), 1)[0].work or []
    reader = pickle.loads(pickle.dumps(source.reader()))
    return [value for batch in reader.read(work) for value in batch.values]


def base() -> CsvSchemaBuilder:
    return CsvSchema.builder().add_number_column("a").add_string_column("b")


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("line", ["1,a", "1,"])  # the second is read record by record
def test_the_mark_that_spreadsheets_put_first_is_no_part_of_a_field(tmp_path: Path, line: str, header: bool) -> None:
    builder = CsvSchema.builder().add_number_column("id").add_string_column("name").set_null_value("")
    text = ("id,name\n" if header else "") + line
    rows = read(builder.set_use_header() if header else builder, tmp_path, "\ufeff" + text + "\n")
    assert rows == [Row(id=1, name=line[2:] or None)]


@pytest.mark.parametrize(
    ("builder", "text", "expected"),
    [
        (base(), '1,x\n2,\n3,"q ""u"""\n', [Row(a=1, b="x"), Row(a=2, b=""), Row(a=3, b='q "u"')]),
        (base().set_column_separator("|"), "1|x\n 2 | y \n", [Row(a=1, b="x"), Row(a=2, b=" y ")]),
        (base().set_skip_first_data_row(), "a,b\n1,x\n", [Row(a=1, b="x")]),
        (base().set_use_header(), "B,A\n1,x\n", [Row(a=1, b="x")]),
        (base().set_allow_comments(), '#c\n1,"x\n#y"\n', [Row(a=1, b="x\n#y")]),
        (base().set_null_value("nil"), "nil,nil\n1,x\n", [Row(a=None, b=None), Row(a=1, b="x")]),
        (
            base().set_quote_char("'").set_escape_char("\\"),
            "1,'x, y'\n2,a\\,b\n",
            [Row(a=1, b="x, y"), Row(a=2, b="a,b")],
        ),
        (base().disable_quote_char(), '1,"x\n', [Row(a=1, b='"x')]),
        (base(), "1,x\r\n2,y\r\n", [Row(a=1, b="x"), Row(a=2, b="y")]),
        (base(), "", []),
        (CsvSchema.builder().add_string_column("a"), "a\n\nb", [Row(a="a"), Row(a=""), Row(a="b")]),
        (
            CsvSchema.builder().add_array_column("a").add_boolean_column("b"),
            "x;y,true\n,false\nz,1\n",
            [Row(a=["x", "y"], b=True), Row(a=[], b=False), Row(a=["z"], b=False)],
        ),
        (CsvSchema.builder().add_array_column("a", ":", Types.INT()), "1:2\n", [Row(a=[1, 2])]),
        (CsvSchema.builder().add_number_column("a", BigIntType()), "7\n", [Row(a=7)]),
        (CsvSchema.builder().add_number_column("a", Types.DOUBLE()), "7\n", [Row(a=7.0)]),
        (CsvSchema.builder().add_number_column("a", DecimalType()), "7.126\n", [Row(a=Decimal("7.13"))]),
    ],
)
def test_files(builder: CsvSchemaBuilder, text: str, expected: list[Row], tmp_path: Path) -> None:
    assert read(builder, tmp_path, text) == expected


@pytest.mark.parametrize(
    ("builder", "text", "message"),
    [
        (base(), "1,x\n2\n", "line 2: 2 fields expected"),
        (base(), "1,x,9\n", "2 fields expected"),
        (base(), "1.5,x\n", "1.5"),
        (base(), "1,x\n\n2,y\n", "line 2"),
        (CsvSchema.builder().add_number_column("a", Types.BYTE()), "200\n", "does not fit"),
        (base().set_use_header().set_strict_headers(), "b,a\n1,x\n", "the header is"),
    ],
)
def test_files_that_do_not_fit_name_file_and_line(
    builder: CsvSchemaBuilder, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(JobExecutionError, match=message) as error:
        read(builder, tmp_path, text)
    assert "x.csv" in str(error.value)


def test_the_produced_type_has_the_columns() -> None:
    produced = CsvReaderFormat.for_schema(base().build())._produced_type()
    assert repr(produced) == "RowTypeInfo(a: Long, b: String)"


def test_schema_builder() -> None:
    schema = base().build()
    assert (schema.size(), CsvSchema.builder().add_columns_from(schema).size()) == (2, 2)
    assert base().clear_columns().size() == 0
    with pytest.raises(ProgramError, match="already"):
        base().add_string_column("a")
    with pytest.raises(ValueError, match="one character"):
        base().set_column_separator("||")
    with pytest.raises(NotSupportedError):
        base().set_any_property_name("rest")


TYPE = Types.ROW_NAMED(["a", "b", "c"], [Types.INT(), Types.STRING(), Types.DOUBLE()])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"1,x,1.5", Row(a=1, b="x", c=1.5)),
        (b"1,x,1.5\n2,y,2.5", Row(a=1, b="x", c=1.5)),
        (b'1,"x, ""y""",2', Row(a=1, b='x, "y"', c=2.0)),
        (b" 1 , x , 2 ", Row(a=1, b=" x ", c=2.0)),
        (b"1,,2", Row(a=1, b="", c=2.0)),
    ],
)
def test_messages(message: bytes, expected: Row) -> None:
    schema = pickle.loads(pickle.dumps(CsvRowDeserializationSchema.Builder(TYPE).build()))
    assert schema.deserialize(message) == expected


@pytest.mark.parametrize("message", [b",,", b"1,x", b"1,x,1.5,9", b"a,x,1.5", b"#c", b""])
def test_messages_that_cannot_be_read(message: bytes) -> None:
    with pytest.raises(ValueError, match="Failed to deserialize CSV row"):
        CsvRowDeserializationSchema.Builder(TYPE).build().deserialize(message)


def test_settings_of_message_schemas() -> None:
    builder = CsvRowDeserializationSchema.Builder
    assert builder(TYPE).set_null_literal("n").build().deserialize(b"n,n,n") == Row(a=None, b=None, c=None)
    lenient = builder(TYPE).set_ignore_parse_errors(True).build()
    assert lenient.deserialize(b"a,x,1.5") == Row(a=None, b="x", c=1.5)
    assert lenient.deserialize(b"1,x") == Row(a=1, b="x", c=None)
    assert lenient.deserialize(b"1,x,1.5,9") is None
    inner = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
    nested = Types.ROW_NAMED(["l", "r"], [Types.OBJECT_ARRAY(Types.INT()), inner])
    expected = Row(l=[1, 2], r=Row(x=3, y="z"))
    assert builder(nested).set_array_element_delimiter(":").build().deserialize(b"1:2,3:z") == expected
    with pytest.raises(ProgramError, match="row type"):
        builder(Types.STRING())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", b"1,x,1.5\n"),
        ("a,b", b'1,"a,b",1.5\n'),
        ('q"u', b'1,"q""u",1.5\n'),
        ("a b", b'1,"a b",1.5\n'),
        ("", b"1,,1.5\n"),
        (None, b"1,,1.5\n"),
        ("#x", b'1,"#x",1.5\n'),
        ("a-b_c.:/", b"1,a-b_c.:/,1.5\n"),
        ("\u00fc", b"1,\xc3\xbc,1.5\n"),
        ("x" * 24, b"1," + b"x" * 24 + b",1.5\n"),
        ("x" * 25, b'1,"' + b"x" * 25 + b'",1.5\n'),
    ],
)
def test_writing_quotes_what_flink_quotes(value: Any, expected: bytes) -> None:
    schema = pickle.loads(pickle.dumps(CsvRowSerializationSchema.Builder(TYPE).build()))
    assert schema.serialize(Row(1, value, 1.5)) == expected


def test_writing_with_other_characters() -> None:
    builder = CsvRowSerializationSchema.Builder
    row = Row(1, "x", 1e20)
    assert builder(TYPE).set_field_delimiter("|").set_line_delimiter("\r\n").build().serialize(row) == (
        b'1|"x"|1.0E20\r\n'
    )
    assert builder(TYPE).set_line_delimiter("").build().serialize(Row(1, "x", 1.5)) == b"1,x,1.5"
    assert builder(TYPE).disable_quote_character().build().serialize(Row(1, "x,y", 1.5)) == b"1,x,y,1.5\n"
    assert builder(TYPE).set_quote_character("'").build().serialize(Row(1, "x,y'", 1.5)) == b"1,'x,y''',1.5\n"
    assert builder(TYPE).set_null_literal("NULL").build().serialize(Row(1, None, 1.5)) == b"1,NULL,1.5\n"
    escaping = builder(TYPE).set_escape_character("\\").build()
    assert escaping.serialize(Row(1, "a\\b", 1.5)) == b'1,"a\\\\b",1.5\n'
    with pytest.raises(ValueError, match="2 fields"):
        escaping.serialize(Row(1, "x"))


def test_dates_and_times() -> None:
    type_info = Types.ROW_NAMED(["d", "t", "ts"], [Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()])
    row = Row(d=date(2024, 1, 2), t=time(3, 4, 5), ts=datetime(2024, 1, 2, 3, 4, 5, 123000))
    text = b'2024-01-02,03:04:05,"2024-01-02 03:04:05.123"\n'
    assert CsvRowSerializationSchema.Builder(type_info).build().serialize(row) == text
    assert CsvRowDeserializationSchema.Builder(type_info).build().deserialize(text) == row
