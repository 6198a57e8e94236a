"""Protobuf messages by generated classes."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

pytest.importorskip("google.protobuf")

from tests.unit.table.formats.shop_messages import OldOrder, Order

from penstock.columns.kernels.python_columns import from_python, to_python
from penstock.columns.typesystem.data_types import DataTypes
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.table.formats.base import FormatOptions
from penstock.table.formats.registry import FORMATS
from penstock.table.logical.nodes import Field, Fields

PART = DataTypes.ROW([DataTypes.FIELD("name", DataTypes.STRING()), DataTypes.FIELD("pieces", DataTypes.INT())])
FIELDS: Fields = (
    Field("id", DataTypes.BIGINT()),
    Field("price", DataTypes.DOUBLE()),
    Field("kind", DataTypes.STRING()),
    Field("first", PART),
    Field("parts", DataTypes.ARRAY(PART)),
    Field("tags", DataTypes.ARRAY(DataTypes.STRING())),
    Field("counts", DataTypes.MAP(DataTypes.STRING(), DataTypes.BIGINT())),
)


def options(name: str, **more: str) -> FormatOptions:
    module = "tests.unit.table.formats.shop_messages"
    given = {key.replace("_", "-"): value for key, value in more.items()}
    return FormatOptions("protobuf", "t", {"message-class-name": f"{module}.{name}", **given})


def decoded(given: FormatOptions, messages: list[bytes], fields: Fields = FIELDS) -> list[tuple[Any, ...]]:
    found = pickle.loads(pickle.dumps(FORMATS["protobuf"].decoder_of(fields, given))).decode(messages)
    columns = [to_python(column, field.data_type) for column, field in zip(found.columns, fields, strict=True)]
    return list(zip(*columns, strict=True))


def encoded(given: FormatOptions, rows: list[tuple[Any, ...]], fields: Fields = FIELDS) -> list[bytes]:
    encoder = pickle.loads(pickle.dumps(FORMATS["protobuf"].encoder_of(fields, given)))
    cells = list(zip(*rows, strict=True))
    columns = [from_python(column, field.data_type) for column, field in zip(cells, fields, strict=True)]
    found: list[bytes] = encoder.encode(columns, None, len(rows))
    return found


def test_rows_come_back() -> None:
    row = (7, 1.5, "NUT", ("a", 1), [("b", 2), ("c", 3)], ["x", "y"], {"k": 9})
    messages = encoded(options("Order"), [row])
    assert Order.FromString(messages[0]).parts[1].name == "c"  # type: ignore[attr-defined]
    [found] = decoded(options("Order"), messages)
    assert (*found[:3], tuple(found[3]), [tuple(part) for part in found[4]], *found[5:]) == row


def test_what_is_not_set_is_null_where_messages_can_say_so() -> None:
    empty = OldOrder().SerializeToString()  # type: ignore[attr-defined]
    assert decoded(options("OldOrder"), [empty]) == [(None, None, None, None, [], [], {})]
    found = decoded(options("OldOrder", read_default_values="true"), [empty], FIELDS[:3])
    assert found == [(0, 0.0, "ANY")]
    assert decoded(options("Order"), [b""], FIELDS[:4]) == [(0, 0.0, "ANY", None)]


def test_null_in_an_array_is_a_text_of_its_own() -> None:
    [message] = encoded(options("Order", write_null_string_literal="?"), [(["a", None],)], FIELDS[5:6])
    assert list(Order.FromString(message).tags) == ["a", "?"]  # type: ignore[attr-defined]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(JobExecutionError, match="is no tests.unit"):
        decoded(options("Order"), [b"\xff"])
    assert decoded(options("Order", ignore_parse_errors="true"), [b"\xff"]) == []
    with pytest.raises(ProgramError, match="protoc has generated for Python"):
        FORMATS["protobuf"].decoder_of(FIELDS, FormatOptions("protobuf", "t", {"message-class-name": "com.acme.Order"}))
    with pytest.raises(ProgramError, match="has no field 'nothere'"):
        FORMATS["protobuf"].decoder_of((Field("nothere", DataTypes.INT()),), options("Order"))
