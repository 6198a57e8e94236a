from __future__ import annotations

import copy
import pickle

import pytest

from penstock.common import Row, RowKind
from penstock.common.errors import NotSupportedError


def test_texts_of_rows() -> None:
    assert repr(Row(1, "a", None)) == "<Row(1, 'a', None)>"
    assert repr(Row(b=1, a="x")) == "Row(b=1, a='x')"
    assert str(Row()) == "<Row()>"
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]


def test_a_row_of_names_makes_rows() -> None:
    person = Row("name", "age")
    assert person("Ann", 11) == Row(name="Ann", age=11)
    assert repr(person("Ann")) == "Row(name='Ann')"
    with pytest.raises(ValueError, match="2 fields, but got 3"):
        person(1, 2, 3)


def test_reading_fields() -> None:
    row = Row(a=1, b="x")
    assert (row.a, row["b"], row[0], row[-1], row[0:1]) == (1, "x", 1, "x", [1])
    assert list(row) == [1, "x"] and len(row) == 2
    assert "a" in row and "x" not in row and "x" in Row("x")
    with pytest.raises(AttributeError):
        _ = row.zz
    with pytest.raises(ValueError, match="no field 'zz'"):
        row["zz"]
    with pytest.raises(KeyError, match="no field names"):
        Row(1)["a"]


@pytest.mark.parametrize("row", [Row(a=1, b=2), Row._of((1, 2), ["a", "b"])])
def test_fields_change_by_item_only(row: Row) -> None:
    row["a"] = 3
    row[1] = 9
    assert row == Row(a=3, b=9)
    with pytest.raises(AttributeError):
        row.a = 5  # type: ignore[attr-defined]


def test_equality_counts_names_and_kind_but_not_the_order_of_names() -> None:
    assert Row(a=1, b=2) == Row(b=2, a=1)
    assert hash(Row(a=1, b=2)) == hash(Row(b=2, a=1))
    assert Row(1, 2) == Row._of((1, 2)) and hash(Row(1, 2)) == hash(Row._of((1, 2)))
    assert Row(1, 2) != Row(a=1, b=2)
    assert Row(a=1) != Row(b=1)
    assert Row(1) != Row.of_kind(RowKind.DELETE, 1)
    assert Row(1, 2) != (1, 2)


def test_as_dict() -> None:
    nested = Row(a=Row(b=1), c=[Row(d=1)], e={"k": Row(z=1)})
    assert nested.as_dict(True) == {"a": {"b": 1}, "c": [{"d": 1}], "e": {"k": {"z": 1}}}
    assert Row(a=Row(b=1)).as_dict() == {"a": Row(b=1)}
    with pytest.raises(TypeError, match="set_field_names"):
        Row(1).as_dict()


def test_names_given_later() -> None:
    row = Row(1, 2)
    assert row.get_fields_by_names(["f0"]) == [1, 2]
    row.set_field_names(["p", "q"])
    assert row == Row(p=1, q=2) and row.get_fields_by_names(["q", "p"]) == [2, 1]


@pytest.mark.parametrize(
    "row",
    [Row(1, "x"), Row(a=1, b=[2]), Row.of_kind(RowKind.UPDATE_AFTER, a=1), Row.of_kind(RowKind.DELETE, 1)],
)
def test_pickle_and_copy_keep_everything(row: Row) -> None:
    for again in (pickle.loads(pickle.dumps(row)), copy.deepcopy(row), copy.copy(row)):
        assert again == row and again.get_row_kind() is row.get_row_kind() and repr(again) == repr(row)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="not both"):
        Row(1, a=2)
    with pytest.raises(TypeError, match="RowKind"):
        Row.of_kind("DELETE", 1)  # type: ignore[arg-type]
    with pytest.raises(NotSupportedError):
        RowKind.INSERT.to_j_row_kind()
    with pytest.raises(TypeError, match="unhashable"):
        hash(Row([1]))
