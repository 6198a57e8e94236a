"""Messages become rows and rows become messages; options by Flink's names."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from penstock.columns.kernels.datum import from_plain
from penstock.columns.kernels.python_columns import from_python, to_python
from penstock.columns.typesystem.data_types import DataTypes
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.table.connectors.base import ConnectorTable
from penstock.table.formats.base import FormatOptions
from penstock.table.formats.registry import FORMATS, format_of
from penstock.table.logical.nodes import Field, Fields

_SCIENTIFIC = "write-bigdecimal-in-scientific-notation"
ID_AND_NAME: Fields = (Field("id", DataTypes.INT()), Field("name", DataTypes.STRING()))


def decoded(name: str, fields: Fields, messages: list[bytes], **options: str) -> list[tuple[Any, ...]]:
    given = {key.replace("_", "-"): value for key, value in options.items()}
    found = FORMATS[name].decoder_of(fields, FormatOptions(name, "t", given)).decode(messages)
    columns = [to_python(column, field.data_type) for column, field in zip(found.columns, fields, strict=True)]
    kinds = [0] * len(found.messages) if found.kinds is None else found.kinds.tolist()
    return [(kind, *row) for kind, row in zip(kinds, zip(*columns, strict=True), strict=True)]


def encoded(name: str, fields: Fields, rows: list[tuple[Any, ...]], kinds: Any = None) -> list[bytes]:
    encoder = FORMATS[name].encoder_of(fields, FormatOptions(name, "t"))
    cells = list(zip(*rows, strict=True))
    columns = [from_python(column, field.data_type) for column, field in zip(cells, fields, strict=True)]
    return encoder.encode(columns, kinds, len(rows))


def encoded_ticks(name: str, fields: Fields, rows: list[tuple[Any, ...]]) -> list[bytes]:
    """Moments given as whole numbers."""
    encoder = FORMATS[name].encoder_of(fields, FormatOptions(name, "t"))
    cells = list(zip(*rows, strict=True))
    columns = [from_plain(column, field.data_type) for column, field in zip(cells, fields, strict=True)]
    return encoder.encode(columns, None, len(rows))


def test_json_takes_fields_by_name_and_numbers_as_texts() -> None:
    messages = [b'{"name": "a", "id": 1, "more": 2}', b'{"id": "7"}', b'{"id": null, "name": {"x": 1}}']
    assert decoded("json", ID_AND_NAME, messages) == [(0, 1, "a"), (0, 7, None), (0, None, '{"x":1}')]


def test_json_of_nested_types_comes_back() -> None:
    row = DataTypes.ROW([DataTypes.FIELD("d", DataTypes.DATE()), DataTypes.FIELD("n", DataTypes.DECIMAL(20, 2))])
    fields = (Field("a", DataTypes.ARRAY(DataTypes.INT())), Field("r", row))
    messages = encoded("json", fields, [([1, None], None), (None, None)])
    assert messages == [b'{"a":[1,null],"r":null}', b'{"a":null,"r":null}']
    text = b'{"a":[1],"r":{"d":"2020-01-02","n":12345.67}}'
    [(_, numbers, inner)] = decoded("json", fields, [text])
    assert numbers == [1] and str(inner[0]) == "2020-01-02" and str(inner[1]) == "12345.67"


def test_json_decimals_keep_all_digits() -> None:
    fields = (Field("n", DataTypes.DECIMAL(38, 4)),)
    assert encoded("json", fields, [(Decimal("12345678901234567890.1200"),)]) == [b'{"n":12345678901234567890.12}']


def test_what_cannot_be_read_fails_with_the_text_or_becomes_null() -> None:
    with pytest.raises(JobExecutionError, match="Column 'id' is INT, but 'x' was read"):
        decoded("json", ID_AND_NAME, [b'{"id": "x"}'])
    lenient = {"ignore_parse_errors": "true"}
    assert decoded("json", ID_AND_NAME, [b'{"id": "x"}', b"broken", b'{"id": 2}'], **lenient) == [
        (0, None, None),
        (0, 2, None),
    ]
    with pytest.raises(JobExecutionError, match="The field 'name' is missing"):
        decoded("json", ID_AND_NAME, [b'{"id": 1}'], fail_on_missing_field="true")


def test_csv_quotes_and_nulls() -> None:
    messages = encoded("csv", ID_AND_NAME, [(1, 'a "b", c'), (None, "plain")])
    assert messages == [b'1,"a ""b"", c"', b",plain"]
    assert decoded("csv", ID_AND_NAME, messages) == [(0, 1, 'a "b", c'), (0, None, "plain")]
    assert decoded("csv", ID_AND_NAME, [b"1|n/a"], field_delimiter="|", null_literal="n/a") == [(0, 1, None)]
    with pytest.raises(JobExecutionError, match="3 fields, but the table has 2 columns"):
        decoded("csv", ID_AND_NAME, [b"1,2,3"])


def test_raw_is_the_only_column() -> None:
    number = (Field("n", DataTypes.INT()),)
    assert encoded("raw", number, [(258,)]) == [b"\x00\x00\x01\x02"]
    assert decoded("raw", number, [b"\x00\x00\x01\x02"]) == [(0, 258)]
    with pytest.raises(ProgramError, match="exactly one column"):
        decoded("raw", ID_AND_NAME, [b""])
    with pytest.raises(JobExecutionError, match="3 bytes is no INT, which has 4"):
        decoded("raw", number, [b"abc", b"abcde"])


def test_avro_messages_are_those_of_the_schema_that_follows_from_the_columns() -> None:
    import datetime
    from decimal import Decimal

    fastavro = pytest.importorskip("fastavro")
    row = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT(False))])
    fields = (
        Field("id", DataTypes.BIGINT(False)),
        Field("at", DataTypes.TIMESTAMP(0)),
        Field("n", DataTypes.DECIMAL(10, 2)),
        Field("tags", DataTypes.ARRAY(DataTypes.STRING())),
        Field("r", row),
    )
    moment = datetime.datetime(2020, 1, 1, 0, 0, 5)
    messages = encoded("avro", fields, [(1, moment, Decimal("1.50"), ["a", None], None), (2, None, None, None, None)])
    assert messages[1] == b"\x04\x00\x00\x00\x00"
    found = decoded("avro", fields, messages)
    assert found == [(0, 1, moment, Decimal("1.50"), ["a", None], None), (0, 2, None, None, None, None)]
    schema = {
        "type": "record",
        "name": "record",
        "fields": [{"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]}],
    }
    [message] = encoded("avro", fields[1:2], [(moment,)])
    read = fastavro.schemaless_reader(__import__("io").BytesIO(message), fastavro.parse_schema(schema), None)
    assert read == {"at": moment.replace(tzinfo=datetime.UTC)}


CHANGES = {
    "debezium-json": [
        b'{"before":null,"after":{"id":1,"name":"a"},"op":"c"}',
        b'{"before":{"id":1,"name":"a"},"after":{"id":1,"name":"b"},"op":"u"}',
        b'{"before":{"id":1,"name":"b"},"after":null,"op":"d"}',
        b"",
    ],
    "canal-json": [
        b'{"data":[{"id":"1","name":"a"}],"type":"INSERT"}',
        b'{"data":[{"id":"1","name":"b"}],"old":[{"name":"a"}],"type":"UPDATE"}',
        b'{"data":[{"id":"1","name":"b"}],"type":"DELETE"}',
    ],
    "ogg-json": [
        b'{"table":"T","after":{"id":1,"name":"a"},"op_type":"I"}',
        b'{"before":{"id":1,"name":"a"},"after":{"id":1,"name":"b"},"op_type":"U"}',
        b'{"before":{"id":1,"name":"b"},"op_type":"D"}',
    ],
    "maxwell-json": [
        b'{"data":{"id":1,"name":"a"},"type":"insert"}',
        b'{"data":{"id":1,"name":"b"},"old":{"name":"a"},"type":"update"}',
        b'{"data":{"id":1,"name":"b"},"type":"delete"}',
    ],
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_databases_have_kinds(name: str) -> None:
    assert decoded(name, ID_AND_NAME, CHANGES[name]) == [(0, 1, "a"), (1, 1, "a"), (2, 1, "b"), (3, 1, "b")]


def test_changes_are_written_as_insertions_and_deletions() -> None:
    import numpy as np

    kinds = np.array([0, 1, 2, 3], np.int8)
    messages = encoded("debezium-json", ID_AND_NAME, [(1, "a"), (1, "a"), (1, "b"), (1, "b")], kinds)
    assert [b'"op":"c"' in message for message in messages] == [True, False, True, False]


def test_options_are_checked_and_missing_formats_say_so() -> None:
    with pytest.raises(ProgramError, match="no option 'ignore-parse-error'. Did you mean 'ignore-parse-errors'"):
        decoded("json", ID_AND_NAME, [], ignore_parse_error="true")
    with pytest.raises(NotSupportedError, match="'orc' of t is one of files"):
        format_of(ConnectorTable(("t",), (), {"format": "orc"}))
    with pytest.raises(ProgramError, match="Did you mean 'json'"):
        format_of(ConnectorTable(("t",), (), {"format": "jsn"}))


def test_fractions_of_moments_are_written_without_zeros_at_their_end() -> None:
    fields = (Field("at", DataTypes.TIMESTAMP(3)), Field("there", DataTypes.TIMESTAMP_LTZ(6)))
    ticks = [(0, 0), (1_000, 1_500_000), (1_120, 1_000_100), (None, None), (601_200, 10_000_000)]
    assert encoded_ticks("csv", fields, ticks) == [
        b'"1970-01-01 00:00:00","1970-01-01 00:00:00Z"',
        b'"1970-01-01 00:00:01","1970-01-01 00:00:01.5Z"',
        b'"1970-01-01 00:00:01.12","1970-01-01 00:00:01.0001Z"',
        b",",
        b'"1970-01-01 00:10:01.2","1970-01-01 00:00:10Z"',
    ]
    assert encoded_ticks("json", fields, ticks)[3:] == [
        b'{"at":null,"there":null}',
        b'{"at":"1970-01-01 00:10:01.2","there":"1970-01-01 00:00:10Z"}',
    ]


def test_lines_of_files_are_the_messages() -> None:
    fields = (Field("id", DataTypes.INT()), Field("text", DataTypes.STRING()), Field("ok", DataTypes.BOOLEAN()))
    rows = [(1, 'with "quotes"', True), (None, "a,b", None), (3, None, False), (4, "line\nend \\ \t\u00e9", True)]
    parts = zip(*rows, strict=True)
    columns = [from_plain(part, field.data_type) for part, field in zip(parts, fields, strict=True)]
    kinds = np.array([0, 1, 2, 3], np.int8)
    for name in ("csv", "json", "debezium-json", "canal-json", "maxwell-json", "ogg-json"):
        encoder = FORMATS[name].encoder_of(fields, FormatOptions(name, "t"))
        messages = encoder.encode(columns, kinds, len(rows))
        assert encoder.block(columns, kinds, len(rows)) == b"".join(message + b"\n" for message in messages)
    assert json.loads(encoded("json", fields, rows)[3])["text"] == rows[3][1]


def test_decimals_are_written_as_java_writes_them_without_zeros_at_their_end() -> None:
    fields = (Field("n", DataTypes.DECIMAL(38, 10)),)
    values = ["1.5", "1.0", "120", "908000", "-10.10", "0", "0.0000001", "0.00000012", "1234567890123456789012345678.1"]
    rows: list[tuple[Any, ...]] = [*((Decimal(value),) for value in values), (None,)]
    assert encoded("csv", fields, rows) == [
        b"1.5", b"1", b"1.2E+2", b"9.08E+5", b"-10.1", b"0", b"1E-7", b"1.2E-7", b"1234567890123456789012345678.1", b"",
    ]  # fmt: skip
    plain = FORMATS["csv"].encoder_of(fields, FormatOptions("csv", "t", {_SCIENTIFIC: "false"}))
    columns = [from_python([row[0] for row in rows], fields[0].data_type)]
    assert plain.encode(columns, None, len(rows))[2:8] == [
        b"120",
        b"908000",
        b"-10.1",
        b"0",
        b"0.0000001",
        b"0.00000012",
    ]
    assert encoded("json", fields, rows)[3] == b'{"n":9.08E+5}'


def test_csv_quotes_as_the_writer_of_flink_does() -> None:
    fields = (Field("text", DataTypes.STRING()),)
    texts = ["plain", "a b", "a-b", "a&b", "x" * 24, "x" * 25, 'say "hi"']
    assert encoded("csv", fields, [(text,) for text in texts]) == [
        b"plain", b'"a b"', b"a-b", b'"a&b"', b"x" * 24, b'"' + b"x" * 25 + b'"', b'"say ""hi"""',
    ]  # fmt: skip
