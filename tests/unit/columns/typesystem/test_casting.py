"""Which types meet in a common one, and which become which."""

from __future__ import annotations

import pytest

from penstock.columns.typesystem.casting import explicitly_castable, implicitly_castable, loses_nothing
from penstock.columns.typesystem.merging import common_type
from penstock.columns.typesystem.python_values import infer_schema
from penstock.columns.typesystem.type_text import parse_type


@pytest.mark.parametrize(
    ("types", "common"),
    [
        (["INT", "BIGINT NOT NULL"], "BIGINT"),
        (["INT NOT NULL", "DECIMAL(3, 1) NOT NULL"], "DECIMAL(11, 1) NOT NULL"),
        (["DECIMAL(38, 10)", "BIGINT"], "DECIMAL(38, 10)"),
        (["FLOAT", "INT"], "FLOAT"),
        (["FLOAT", "DECIMAL(3, 1)"], "DOUBLE"),
        (["CHAR(3)", "CHAR(3)"], "CHAR(3)"),
        (["CHAR(1)", "CHAR(3)"], "VARCHAR(3)"),
        (["CHAR(1)", "STRING"], "STRING"),
        (["BINARY(1)", "BYTES"], "BYTES"),
        (["NULL", "INT NOT NULL"], "INT"),
        (["DATE", "TIMESTAMP(3)"], "TIMESTAMP(3)"),
        (["TIMESTAMP(3)", "TIMESTAMP_LTZ(6)"], "TIMESTAMP_LTZ(6)"),
        (["ARRAY<INT>", "ARRAY<BIGINT NOT NULL>"], "ARRAY<BIGINT>"),
        (["ROW<a INT, b CHAR(1)>", "ROW<x BIGINT, y CHAR(2)>"], "ROW<`a` BIGINT, `b` VARCHAR(2)>"),
        (["INTERVAL DAY", "INTERVAL HOUR TO SECOND(3)"], "INTERVAL DAY(2) TO SECOND(3)"),
        (["INTERVAL YEAR", "INTERVAL MONTH"], "INTERVAL YEAR(2) TO MONTH"),
        (["INT", "STRING"], None),
        (["DATE", "TIME"], None),
        (["ARRAY<INT>", "MAP<INT, INT>"], None),
        (["BOOLEAN", "INT"], None),
    ],
)
def test_common_type(types: list[str], common: str | None) -> None:
    found = common_type([parse_type(text) for text in types])
    assert (None if found is None else found.as_summary_string()) == common


@pytest.mark.parametrize(
    ("source", "target", "implicit", "explicit"),
    [
        ("TINYINT", "BIGINT", True, True),
        ("BIGINT", "INT", False, True),
        ("INT", "DECIMAL(3, 1)", True, True),
        ("INT", "STRING", False, True),
        ("CHAR(3)", "STRING", True, True),
        ("STRING", "INT", False, True),
        ("STRING", "ROW<a INT>", False, False),
        ("INT", "DATE", False, False),
        ("TIMESTAMP(3)", "DATE", True, True),
        ("TIMESTAMP(3)", "INT", False, False),
        ("INT", "INT NOT NULL", False, True),
        ("BOOLEAN", "DOUBLE", False, True),
        ("INTERVAL DAY", "INT", False, False),
        ("ARRAY<TINYINT>", "ARRAY<INT>", True, True),
        ("ARRAY<INT>", "ARRAY<DATE>", False, False),
        ("ROW<a INT>", "ROW<a INT, b INT>", False, False),
        ("MAP<INT, INT>", "MAP<STRING, BIGINT>", False, True),
    ],
)
def test_what_becomes_what(source: str, target: str, implicit: bool, explicit: bool) -> None:
    have, want = parse_type(source), parse_type(target)
    assert (implicitly_castable(have, want), explicitly_castable(have, want)) == (implicit, explicit)


def test_lossless_casts() -> None:
    assert loses_nothing(parse_type("INT"), parse_type("DOUBLE"))
    assert not loses_nothing(parse_type("BIGINT"), parse_type("DOUBLE"))
    assert loses_nothing(parse_type("DECIMAL(3, 1)"), parse_type("DECIMAL(10, 2)"))


def test_types_of_records_are_inferred() -> None:
    records = [(1, None, [1.5]), (None, "x", None)]
    assert infer_schema(records, ["a", "b"]).as_summary_string() == "ROW<`a` BIGINT, `b` STRING, `_3` ARRAY<DOUBLE>>"
    with pytest.raises(Exception, match="None in every record"):
        infer_schema([(None,)])
    with pytest.raises(Exception, match="disagree on a type"):
        infer_schema([(1,), ("x",)])
