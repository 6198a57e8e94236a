"""Whether values that were saved under one declared type can go on under another, and what is done to them.

A conversion never loses what the new type still has a place for: numbers only become wider, rows gain fields (None, or
the default that the type declares) and lose fields that the new type does not name. Everything else is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from penstock.common.typeinfo import ExternalTypeInfo, MapTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.common.types import Row
from penstock.runtime.coercion import coercer
from penstock.runtime.type_description import UNTYPED, describe_type, for_people

Converter = Callable[[Any], Any]

_INTEGERS = ("BYTE", "SHORT", "INT", "LONG", "BIG_INT")
# A Python int is what all of them hold: wider means only that more fits in.
_AS_IS = {(old, new) for i, old in enumerate(_INTEGERS) for new in _INTEGERS[i + 1 :]} | {
    ("FLOAT", "DOUBLE"),
    ("CHAR", "STRING"),
}
_CONVERTED: dict[tuple[str, str], Converter] = {
    **{(old, "FLOAT"): float for old in ("BYTE", "SHORT")},
    **{(old, "DOUBLE"): float for old in ("BYTE", "SHORT", "INT")},
    **{(old, "BIG_DEC"): Decimal for old in _INTEGERS},
}


class IncompatibleTypes(Exception):
    """The reason why saved values cannot go on under a type; names the part of the type."""


def evolution(saved: Any, declared: TypeInformation) -> Converter | None:
    """The function that makes a saved value one of the declared type; None when it is one already."""
    if isinstance(declared, ExternalTypeInfo):
        return evolution(saved, declared.type_info)
    new = describe_type(declared)
    if new == UNTYPED:
        return None
    if new == saved:
        return None
    if saved == UNTYPED:
        return coercer(declared)  # each value is looked at: it may or may not be one of the new type
    if isinstance(saved, str) and isinstance(new, str):
        if (saved, new) in _AS_IS:
            return None
        if (saved, new) in _CONVERTED:
            return _unless_none(_CONVERTED[saved, new])
        raise IncompatibleTypes(f"{saved} cannot become {new}")
    if isinstance(saved, str) or isinstance(new, str) or saved["type"] != new["type"] or saved["type"] == "OTHER":
        raise IncompatibleTypes(f"{for_people(saved)} cannot become {for_people(new)}")
    if isinstance(declared, RowTypeInfo):
        return _row_evolution(saved, declared)
    if isinstance(declared, TupleTypeInfo):
        return _tuple_evolution(saved, declared)
    if isinstance(declared, MapTypeInfo):
        key = _part("the keys", saved["key"], declared.key_type)
        return _map_converter(key, _part("the values", saved["value"], declared.value_type))
    return _list_converter(_part("the elements", saved["element"], declared.element_type))  # type: ignore[attr-defined]


def _part(what: str, saved: Any, declared: TypeInformation) -> Converter | None:
    try:
        return evolution(saved, declared)
    except IncompatibleTypes as error:
        raise IncompatibleTypes(f"{what}: {error}") from None


def _unless_none(convert: Converter) -> Converter:
    return lambda value: None if value is None else convert(value)


def _list_converter(element: Converter | None) -> Converter | None:
    if element is None:
        return None
    return _unless_none(lambda values: type(values)(map(element, values)))


def _map_converter(key: Converter | None, value: Converter | None) -> Converter | None:
    if key is None and value is None:
        return None
    as_key, as_value = key or _same, value or _same
    return _unless_none(lambda entries: {as_key(k): as_value(v) for k, v in entries.items()})


def _same(value: Any) -> Any:
    return value


def _tuple_evolution(saved: Any, declared: TupleTypeInfo) -> Converter | None:
    old, new = saved["fields"], declared.get_field_types()
    if len(old) != len(new):
        raise IncompatibleTypes(
            f"a tuple of {len(old)} fields cannot become one of {len(new)}: only rows gain and lose fields"
        )
    fields = [_part(f"field {i}", before, after) for i, (before, after) in enumerate(zip(old, new, strict=True))]
    if not any(fields):
        return None
    converters = [convert or _same for convert in fields]
    return _unless_none(lambda value: tuple(convert(v) for convert, v in zip(converters, value, strict=False)))


class _RowConverter:
    """Takes the fields of a saved row into the places of the new type, by name."""

    def __init__(
        self, saved_names: list[str], old_names: list[str], fields: dict[str, Converter | None], declared: RowTypeInfo
    ) -> None:
        self._saved_names = saved_names
        self._old_names = old_names
        self._fields = fields
        self._new_names = declared.get_field_names()
        self._defaults = declared.get_defaults()
        self._named = declared.has_declared_names()

    def __call__(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, Row):
            by_name = value._fields is not None and set(self._saved_names) <= set(value._fields)
            values = self._values(value.get_fields_by_names(self._saved_names) if by_name else value)
            named = self._named or value._fields is not None
            return Row._of(values, self._new_names if named else None, value.get_row_kind())
        if isinstance(value, dict):
            old = [value.get(name) for name in self._saved_names]
            return dict(zip(self._new_names, self._values(old), strict=True))
        return type(value)(self._values(value))

    def _values(self, saved: Any) -> list[Any]:
        old = dict(zip(self._old_names, saved, strict=False))
        return [self._value(name, old) for name in self._new_names]

    def _value(self, name: str, old: dict[str, Any]) -> Any:
        if name not in self._fields:
            return self._defaults.get(name)
        convert = self._fields[name]
        return old.get(name) if convert is None else convert(old.get(name))


def _row_evolution(saved: Any, declared: RowTypeInfo) -> Converter | None:
    names, types = declared.get_field_names(), declared.get_field_types()
    saved_names = [name for name, _ in saved["fields"]]
    old_names = _matched_by_place(saved_names, names) if _generated(saved_names) or _generated(names) else saved_names
    old = dict(zip(old_names, (part for _, part in saved["fields"]), strict=True))
    kept = {
        name: _part(f"field {name!r}", old[name], new) for name, new in zip(names, types, strict=True) if name in old
    }
    if old and not kept:
        raise IncompatibleTypes(
            f"none of the saved fields {', '.join(old)} is among the new fields {', '.join(names)}: fields are "
            "matched by name"
        )
    if saved_names == names and not any(kept.values()):
        return None
    return _RowConverter(saved_names, old_names, kept, declared)


def _generated(names: list[str]) -> bool:
    return names == [f"f{i}" for i in range(len(names))]


def _matched_by_place(old: list[str], new: list[str]) -> list[str]:
    """Where one of the types has no names, fields are what they are by their places."""
    return new[: len(old)] + old[len(new) :]
