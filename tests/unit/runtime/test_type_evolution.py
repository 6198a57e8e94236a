"""Which declared types can follow each other, and what becomes of the values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from penstock.common import Row, Types
from penstock.common.time import Time
from penstock.common.typeinfo import TypeInformation
from penstock.common.types import RowKind
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from penstock.runtime.state.table import DELETED
from penstock.runtime.state_schema import DeclaredState, StateSchema, conversion
from penstock.runtime.type_description import as_text, describe_type, for_people
from penstock.runtime.type_evolution import IncompatibleTypes, evolution

_TYPES = [
    Types.STRING(),
    Types.CHAR(),
    Types.BOOLEAN(),
    Types.BYTE(),
    Types.SHORT(),
    Types.INT(),
    Types.LONG(),
    Types.BIG_INT(),
    Types.FLOAT(),
    Types.DOUBLE(),
    Types.BIG_DEC(),
    Types.INSTANT(),
    Types.SQL_DATE(),
    Types.SQL_TIME(),
    Types.SQL_TIMESTAMP(),
    Types.ROW([Types.INT()]),
    Types.ROW_NAMED(["a"], [Types.INT()]),
    Types.TUPLE([Types.INT()]),
    Types.LIST(Types.INT()),
    Types.PRIMITIVE_ARRAY(Types.INT()),
    Types.BASIC_ARRAY(Types.INT()),
    Types.OBJECT_ARRAY(Types.INT()),
    Types.MAP(Types.STRING(), Types.INT()),
    Types.PICKLED_BYTE_ARRAY(),
]


def _convert(old: TypeInformation, new: TypeInformation, value: Any) -> Any:
    convert = evolution(describe_type(old), new)
    return value if convert is None else convert(value)


def test_every_type_has_a_description_of_its_own() -> None:
    assert len({as_text(describe_type(type_info)) for type_info in _TYPES}) == len(_TYPES)


@pytest.mark.parametrize("type_info", _TYPES, ids=repr)
def test_a_type_follows_itself_without_conversion(type_info: TypeInformation) -> None:
    assert evolution(describe_type(type_info), type_info) is None


_WIDER = {
    "BYTE": {"SHORT", "INT", "LONG", "BIG_INT", "FLOAT", "DOUBLE", "BIG_DEC"},
    "SHORT": {"INT", "LONG", "BIG_INT", "FLOAT", "DOUBLE", "BIG_DEC"},
    "INT": {"LONG", "BIG_INT", "DOUBLE", "BIG_DEC"},
    "LONG": {"BIG_INT", "BIG_DEC"},
    "BIG_INT": {"BIG_DEC"},
    "FLOAT": {"DOUBLE"},
    "CHAR": {"STRING"},
}


def test_basic_types_only_become_wider() -> None:
    basic = {describe_type(type_info): type_info for type_info in _TYPES if isinstance(describe_type(type_info), str)}
    del basic["PICKLED"]
    for old in basic:
        for new, declared in basic.items():
            if new == old or new in _WIDER.get(old, ()):
                evolution(old, declared)
            else:
                with pytest.raises(IncompatibleTypes, match=f"{old} cannot become {new}"):
                    evolution(old, declared)


def test_numbers_keep_their_value() -> None:
    assert type(_convert(Types.INT(), Types.DOUBLE(), 3)) is float
    assert _convert(Types.LONG(), Types.BIG_DEC(), 3) == Decimal(3)
    assert _convert(Types.INT(), Types.DOUBLE(), None) is None


_OLD = Types.ROW_NAMED(["user", "visits"], [Types.STRING(), Types.INT()])


def test_a_row_gains_fields_anywhere() -> None:
    new = Types.ROW_NAMED(["country", "user", "visits"], [Types.STRING(), Types.STRING(), Types.LONG()])
    assert _convert(_OLD, new, Row(user="ann", visits=2)) == Row(country=None, user="ann", visits=2)
    default = new.with_defaults({"country": "?"})
    assert _convert(_OLD, default, Row(user="ann", visits=2)) == Row(country="?", user="ann", visits=2)
    assert _convert(_OLD, default, Row(visits=2, user="ann")) == Row(country="?", user="ann", visits=2)
    assert _convert(_OLD, default, Row("ann", 2)) == Row(country="?", user="ann", visits=2)
    assert _convert(_OLD, default, ("ann", 2)) == ("?", "ann", 2)
    assert _convert(_OLD, default, {"user": "ann", "visits": 2}) == {"country": "?", "user": "ann", "visits": 2}
    assert _convert(_OLD, default, None) is None
    deleted = Row.of_kind(RowKind.DELETE, "ann", 2)
    assert _convert(_OLD, default, deleted).get_row_kind() is RowKind.DELETE


def test_a_row_loses_fields() -> None:
    new = Types.ROW_NAMED(["visits"], [Types.INT()])
    assert _convert(_OLD, new, Row(user="ann", visits=2)) == Row(visits=2)


def test_rows_without_names_are_matched_by_place() -> None:
    old, new = Types.ROW([Types.STRING(), Types.INT()]), Types.ROW([Types.STRING(), Types.LONG(), Types.STRING()])
    assert list(_convert(old, new, Row("ann", 2))) == ["ann", 2, None]
    assert _convert(old, _OLD, Row("ann", 2)) == Row(user="ann", visits=2)
    assert list(_convert(_OLD, new, Row(user="ann", visits=2))) == ["ann", 2, None]


def test_rows_inside_of_other_types() -> None:
    new = Types.ROW_NAMED(["user", "visits", "country"], [Types.STRING(), Types.DOUBLE(), Types.STRING()])
    row, converted = Row(user="ann", visits=2), Row(user="ann", visits=2.0, country=None)
    assert _convert(Types.LIST(_OLD), Types.LIST(new), [row]) == [converted]
    assert _convert(Types.MAP(Types.INT(), _OLD), Types.MAP(Types.LONG(), new), {1: row}) == {1: converted}
    assert _convert(Types.TUPLE([_OLD, Types.INT()]), Types.TUPLE([new, Types.INT()]), (row, 1)) == (converted, 1)
    nested = Types.ROW_NAMED(["inner"], [_OLD])
    assert _convert(nested, Types.ROW_NAMED(["inner"], [new]), Row(inner=row)) == Row(inner=converted)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (_OLD, Types.ROW_NAMED(["user", "visits"], [Types.STRING(), Types.SHORT()]), "field 'visits': INT cannot"),
        (_OLD, Types.ROW_NAMED(["a", "b"], [Types.STRING(), Types.INT()]), "none of the saved fields user, visits"),
        (_OLD, Types.TUPLE([Types.STRING(), Types.INT()]), "ROW<user STRING, visits INT> cannot become TUPLE"),
        (Types.TUPLE([Types.INT()]), Types.TUPLE([Types.INT(), Types.INT()]), "only rows gain and lose fields"),
        (Types.LIST(Types.LONG()), Types.LIST(Types.INT()), "the elements: LONG cannot become INT"),
        (Types.LIST(Types.LONG()), Types.BASIC_ARRAY(Types.LONG()), "LIST<LONG> cannot become BASIC_ARRAY<LONG>"),
        (Types.LONG(), _OLD, "LONG cannot become ROW"),
        (_OLD, Types.LONG(), "cannot become LONG"),
        (Types.MAP(Types.STRING(), Types.INT()), Types.MAP(Types.INT(), Types.INT()), "the keys: STRING cannot"),
    ],
)
def test_refused(old: TypeInformation, new: TypeInformation, why: str) -> None:
    with pytest.raises(IncompatibleTypes, match=why):
        evolution(describe_type(old), new)


def test_untyped_state_takes_everything_and_gives_what_fits() -> None:
    assert _convert(_OLD, Types.PICKLED_BYTE_ARRAY(), Row("ann", 2)) == Row("ann", 2)
    assert _convert(Types.PICKLED_BYTE_ARRAY(), Types.LONG(), 3) == 3
    with pytest.raises(TypeError, match="is no value of the declared type Long"):
        _convert(Types.PICKLED_BYTE_ARRAY(), Types.LONG(), "three")


def test_how_types_are_written_for_people() -> None:
    assert for_people(describe_type(Types.MAP(Types.STRING(), Types.LIST(_OLD)))) == (
        "MAP<STRING, LIST<ROW<user STRING, visits INT>>>"
    )


def test_defaults_are_for_fields_of_the_type() -> None:
    with pytest.raises(ValueError, match="has no field 'contry'"):
        _OLD.with_defaults({"contry": "?"})
    assert _OLD.with_defaults({"user": "?"}) == _OLD


# -- states ------------------------------------------------------------------------------------------------------------

_NOW = 1_000


def _with_ttl(descriptor: Any) -> Any:
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
    return descriptor


def _state_conversion(old: Any, new: Any, entries: Any) -> Any:
    convert = conversion(DeclaredState.keyed(old).schema, DeclaredState.keyed(new), lambda: _NOW)
    return entries if convert is None else convert(entries)


def test_entries_of_every_shape() -> None:
    value = _state_conversion(
        ValueStateDescriptor("s", Types.INT()), ValueStateDescriptor("s", Types.DOUBLE()), {"k": 1, "gone": DELETED}
    )
    assert value == {"k": 1.0, "gone": DELETED} and type(value["k"]) is float
    values = _state_conversion(
        ListStateDescriptor("s", Types.INT()), ListStateDescriptor("s", Types.DOUBLE()), {"k": (True, [1])}
    )
    assert values == {"k": (True, [1.0])} and type(values["k"][1][0]) is float
    entries = _state_conversion(
        MapStateDescriptor("s", Types.STRING(), Types.INT()),
        MapStateDescriptor("s", Types.STRING(), Types.DOUBLE()),
        {"k": (False, {"a": 1, "gone": DELETED})},
    )
    assert entries == {"k": (False, {"a": 1.0, "gone": DELETED})}


def test_time_to_live_comes_and_goes() -> None:
    plain, living = ValueStateDescriptor("s", Types.INT()), _with_ttl(ValueStateDescriptor("s", Types.DOUBLE()))
    assert _state_conversion(plain, living, {"k": 1}) == {"k": (1.0, _NOW)}
    assert _state_conversion(living, ValueStateDescriptor("s", Types.DOUBLE()), {"k": (1.0, 5)}) == {"k": 1.0}
    assert _state_conversion(_with_ttl(plain), living, {"k": (1, 5)}) == {"k": (1.0, 5)}


def test_another_kind_is_refused() -> None:
    with pytest.raises(IncompatibleTypes, match="a value state cannot become a list state"):
        _state_conversion(ValueStateDescriptor("s", Types.INT()), ListStateDescriptor("s", Types.INT()), {})


def test_a_schema_survives_json() -> None:
    schema = DeclaredState.keyed(_with_ttl(ValueStateDescriptor("s", _OLD))).schema
    assert StateSchema.from_json(schema.to_json()) == schema
    assert str(schema) == "value state of ROW<user STRING, visits INT> with time to live"
    with pytest.raises(ValueError, match="version 9"):
        StateSchema.from_json({**schema.to_json(), "version": 9})
