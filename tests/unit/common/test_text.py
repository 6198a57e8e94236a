from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from penstock.common import Encoder, Instant, Row, RowKind, TypeInformation, Types
from penstock.common.text import java_text, print_text

ROW = Types.ROW([Types.STRING(), Types.INT(), Types.BOOLEAN()])
DOUBLE, FLOAT, STAMP = Types.DOUBLE(), Types.FLOAT(), Types.SQL_TIMESTAMP()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e10, "1.0E10"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity"), (float("nan"), "NaN"),
        (0.1, "0.1"), (1.0, "1.0"), (1e7, "1.0E7"), (9999999.0, "9999999.0"), (1e-3, "0.001"),
        (9.99e-4, "9.99E-4"), (1.5e300, "1.5E300"), (-0.0, "-0.0"), (123456789.125, "1.23456789125E8"),
        (100.0, "100.0"), (0.002, "0.002"), (-2.5, "-2.5"),
    ],
)  # fmt: skip
def test_doubles_look_as_in_java(value: float, text: str) -> None:
    assert java_text(value, DOUBLE) == java_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.10000000149011612, "0.1"),
        (1e10, "1.0E10"),
        (3.4e38, "3.4E38"),
        (16777216.0, "1.6777216E7"),
        (3, "3.0"),
    ],
)
def test_floats_show_the_digits_that_32_bits_have(value: float, text: str) -> None:
    assert java_text(value, FLOAT) == text


@pytest.mark.parametrize(
    ("value", "type_info", "text"),
    [
        ("tea", None, "tea"),
        (None, None, "null"),
        (True, None, "true"),
        (Row("tea", 2, False), ROW, "+I[tea, 2, false]"),
        (Row.of_kind(RowKind.DELETE, 2, None), None, "-D[2, null]"),
        ((Row(1, "x"), (1,), ["a"]), None, "(+I[1, x],(1),[a])"),
        ({"k": 1, "j": [1, 2]}, None, "{k=1, j=[1, 2]}"),
        (b"ab\xff", None, "[97, 98, -1]"),
        (datetime.date(2020, 1, 2), None, "2020-01-02"),
        (datetime.time(1, 2, 3, 456789), None, "01:02:03"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 678901), STAMP, "2020-01-02 03:04:05.678"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5), STAMP, "2020-01-02 03:04:05.0"),
        (Decimal("1E+30"), None, "1E+30"),
        (Instant(1, 2345678), None, "1970-01-01T00:00:01.002345678Z"),
        (Instant(1, 0), None, "1970-01-01T00:00:01Z"),
        (Row(0.1), Types.ROW([FLOAT]), "+I[0.1]"),
    ],
)
def test_java_text(value: Any, type_info: TypeInformation | None, text: str) -> None:
    assert java_text(value, type_info) == text


@pytest.mark.parametrize(
    ("value", "type_info", "text"),
    [
        (Row("r1", 1, False), ROW, "+I[r1,1,False]"),
        (Row(Row(1, "x"), (1, "a")), Types.ROW([ROW, ROW]), "+I[<Row(1, 'x')>,(1, 'a')]"),
        (
            ("t1", 1, False, 1.5),
            Types.TUPLE([Types.STRING(), Types.INT(), Types.BOOLEAN(), DOUBLE]),
            "(t1,1,false,1.5)",
        ),
        ([1, 2], Types.LIST(Types.INT()), "[1, 2]"),
        ({"k": 1}, Types.MAP(Types.STRING(), Types.INT()), "{k=1}"),
        (True, Types.BOOLEAN(), "true"),
        ((1, "a", None, True), None, "(1, 'a', None, True)"),
        (Row(1, "x"), Types.PICKLED_BYTE_ARRAY(), "<Row(1, 'x')>"),
        (None, None, "None"),
        (1e10, None, "10000000000.0"),
    ],
)
def test_print_text(value: Any, type_info: TypeInformation | None, text: str) -> None:
    assert print_text(value, type_info) == text


@pytest.mark.parametrize("charset", ["UTF-8", "latin-1", "ascii", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("values", [["a", "", "b\nc"], [""], ["a", 1, None], [("x", 1.0)]])
def test_many_lines_are_encoded_as_each_of_them(charset: str, values: list[Any]) -> None:
    encoder = Encoder.simple_string_encoder(charset)
    together = encoder._encode_all(values)
    assert together is None or together == b"".join(encoder.encode(value) for value in values)
    plain = charset in ("UTF-8", "latin-1", "ascii") and all(type(value) is str for value in values)
    assert (together is not None) == plain


def test_string_encoder_writes_lines() -> None:
    assert Encoder.simple_string_encoder().encode(Row("tea", 2, False)) == b"+I[tea, 2, false]\n"
    assert Encoder.simple_string_encoder("latin-1").encode("é") == b"\xe9\n"
    with pytest.raises(ValueError, match="character set"):
        Encoder.simple_string_encoder("nope")
