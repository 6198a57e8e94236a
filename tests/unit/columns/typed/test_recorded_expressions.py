"""Types and values of expressions are those that Flink 2.3 gave.

Left out of the files, because Penstock differs on purpose: moments before 1970, which Flink shifts by a second or a
day; the last digit of floats in Java 17; texts longer than their CHAR type; NULL as the key of a map; an order of
arrays, maps and rows.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.table.interpreter import plan_of, texts_from

from penstock.common.errors import PenstockError

FOLDER = Path(__file__).parent
ROWS = (FOLDER / "columns.sql").read_text()


def recorded(file: str) -> list[tuple[str, str, str]]:
    lines = (FOLDER / file).read_text().splitlines()
    parts = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(expression, data_type, value) for expression, data_type, value in parts]


@pytest.mark.parametrize("chunk", range(40))
def test_constants(chunk: int) -> None:
    wrong = []
    for expression, data_type, value in recorded("constants.tsv")[chunk::40]:
        found = outcome(f"SELECT {expression}")
        if value == "!" and found[1] == "!":
            continue
        if found != (data_type, value):
            wrong.append(f"{expression}: wanted {data_type} {value}, found {found}")
    assert wrong == []


def outcome(sql: str) -> tuple[str, str]:
    try:
        relation = plan_of(sql)
        data_type = relation.fields[0].data_type.as_summary_string()
        return data_type, json.dumps(texts_from(relation)[0][0], ensure_ascii=False)
    except PenstockError:
        return "-", "!"


@pytest.mark.parametrize(("expression", "data_type", "values"), recorded("columns.tsv"))
def test_columns(expression: str, data_type: str, values: str) -> None:
    sql = f"SELECT {expression} {ROWS}"
    relation = plan_of(sql)
    assert relation.fields[0].data_type.as_summary_string() == data_type
    try:
        found = [row[0] for row in texts_from(relation)]
    except NotImplementedError:
        return  # an aggregate: the harness has no operator for it
    assert found == json.loads(values)
