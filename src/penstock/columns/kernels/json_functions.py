"""JSON_VALUE, JSON_QUERY, JSON_EXISTS, IS JSON, and the making of JSON from values."""

from __future__ import annotations

import base64
import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.kernels.casting import cast
from penstock.columns.kernels.datum import Datum, Invocation, Session, constant, per_value
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.json_path import PathMissing, compile_path
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType

_INVALID = object()


def dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@lru_cache(maxsize=4096)
def _load(text: str) -> Any:
    """Parsed once per text; numbers keep their digits."""
    try:
        return json.loads(text, parse_float=_Digits)
    except ValueError:
        return _INVALID


class _Digits(float):
    """A number that is written again as it was read."""

    def __new__(cls, text: str) -> _Digits:
        made = super().__new__(cls, text)
        made.text = text  # type: ignore[attr-defined]
        return made

    def __repr__(self) -> str:
        return str(getattr(self, "text", super().__repr__()))


def _is_json(text: str | None, call: Invocation) -> bool:
    found = _INVALID if text is None else _load(text)
    if found is _INVALID:
        return False
    kind = call.option("kind", "VALUE")
    shapes = {"OBJECT": isinstance(found, dict), "ARRAY": isinstance(found, list)}
    return kind == "VALUE" or shapes.get(kind, not isinstance(found, (dict, list)))


is_json = per_value(_is_json, nulls=True)


def _found(text: str, path: str) -> tuple[str, Any]:
    """("value", what), ("empty", None) or ("error", why)."""
    compiled = compile_path(path)
    document = _load(text)
    if document is _INVALID:
        return "error", f"{text[:80]!r} is no JSON"
    try:
        return "value", compiled.find(document)
    except PathMissing:
        if compiled.lax:
            return "empty", None
        return "error", f"No results for path {path!r}"


def _exists(text: str, path: str, call: Invocation) -> bool | None:
    state, found = _found(text, path)
    if state == "error":
        on_error = call.option("on_error", "FALSE")
        if on_error == "ERROR":
            raise ValueFailure(f"JSON_EXISTS: {found}")
        return {"TRUE": True, "FALSE": False}.get(on_error)
    return state == "value" and found is not None  # null is nothing for Flink


json_exists = per_value(_exists)


def json_value(call: Invocation) -> Datum:
    """A scalar at a path, as the RETURNING type."""

    def value(text: str, path: str, on_empty: Any = None, on_error: Any = None) -> Any:
        state, found = _found(text, path)
        if state == "value" and found is None:
            state = "empty"
        if state == "value" and isinstance(found, (dict, list)):
            state, found = "error", f"{path!r} does not lead to a scalar"
        if state == "value":
            return _returned(found, call.result_type)
        kind = call.option(f"on_{state}", ("NULL", None))[0]
        if kind == "ERROR":
            raise ValueFailure(f"JSON_VALUE: {found or 'nothing at ' + repr(path)}")
        return (on_empty if state == "empty" else on_error) if kind == "DEFAULT" else None

    return per_value(value, nulls=False)(call) if len(call.arguments) == 2 else _with_defaults(call, value)


def _with_defaults(call: Invocation, value: Any) -> Datum:
    def guarded(text: Any, path: Any, on_empty: Any, on_error: Any) -> Any:
        return None if text is None or path is None else value(text, path, on_empty, on_error)

    return per_value(guarded, nulls=True)(call)


def _returned(found: Any, target: DataType) -> Any:
    if families.is_text(target):
        if isinstance(found, bool):
            return "true" if found else "false"
        return found if isinstance(found, str) else repr(found)
    fits: dict[type[DataType], Any] = {
        scalars.BooleanType: bool,
        scalars.IntType: int,
        scalars.DoubleType: (int, float),
    }
    wanted = fits.get(type(target))
    if wanted is None:
        return _cast_text(found, target)
    if not isinstance(found, wanted) or (isinstance(found, bool) and wanted is not bool):
        raise ValueFailure(f"JSON_VALUE: {found!r} is no {target.nullable().as_summary_string()}")
    return float(found) if isinstance(target, scalars.DoubleType) else found


def _cast_text(found: Any, target: DataType) -> Any:
    text = found if isinstance(found, str) else repr(found)
    string = scalars.VarCharType(scalars.MAX_LENGTH)
    return cast(constant(text, string), string, target, Session()).as_py()


def _query(text: str, path: str, call: Invocation) -> Any:
    state, found = _found(text, path)
    wrapper = call.option("wrapper", "WITHOUT")
    if state == "value":
        compiled = compile_path(path)
        if wrapper == "UNCONDITIONAL" or (wrapper == "CONDITIONAL" and not isinstance(found, (dict, list))):
            found = [found]
        elif not isinstance(found, (dict, list)):
            state, found = "error", "the result is a scalar: use WITH WRAPPER"
        if state == "value" and not compiled.definite and found == [[]] and compiled.lax:
            state = "empty"
    if state == "value":
        if isinstance(call.result_type, ArrayType):
            return [item if isinstance(item, str) or item is None else dumps(item) for item in found]
        return dumps(found)
    kind = call.option(f"on_{state}", "NULL")
    if kind == "ERROR":
        raise ValueFailure(f"JSON_QUERY: {found or 'nothing at ' + repr(path)}")
    array = isinstance(call.result_type, ArrayType)
    return {"EMPTY ARRAY": [] if array else "[]", "EMPTY OBJECT": "{}"}.get(kind)


json_query = per_value(_query)


class _Raw(str):
    """Text that is JSON already."""


def json_of(value: Any, data_type: DataType, zone: str = "UTC") -> Any:
    """A value as plain_values gives it, as what json writes."""
    if value is None or families.is_boolean(data_type) or families.is_text(data_type) or families.is_integer(data_type):
        return value
    if families.is_floating(data_type) or isinstance(data_type, scalars.DecimalType):
        return _Raw(format(value, "f") if isinstance(value, Decimal) else repr(float(value)))
    if families.is_bytes(data_type):
        return base64.b64encode(value).decode()
    if families.is_moment(data_type) or families.is_interval(data_type):
        text = texts_of(constant(value, data_type), data_type, zone).as_py()
        zoned = isinstance(data_type, scalars.LocalZonedTimestampType)
        return text.replace(" ", "T") + ("Z" if zoned else "") if families.is_timestamp(data_type) else text
    if isinstance(data_type, (MapType, MultisetType)):
        inner = data_type.value_type if isinstance(data_type, MapType) else scalars.IntType()
        return {str(key): json_of(item, inner, zone) for key, item in value.items()}
    if isinstance(data_type, ArrayType):
        return [json_of(item, data_type.element_type, zone) for item in value]
    if isinstance(data_type, RowType):
        parts = zip(data_type.names, data_type.children(), value, strict=True)
        return {name: json_of(item, part, zone) for name, part, item in parts}
    return str(value)


def json_text(value: Any) -> str:
    """As dumps, with raw pieces as they are."""
    if isinstance(value, _Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(key)}:{json_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    return dumps(value)


json_string = per_value(lambda value, call: json_text(json_of(value, call.types[0], call.session.zone)))


def _object(*pairs: Any, call: Invocation) -> str:
    made: dict[str, Any] = {}
    raw = call.option("raw", ())
    for place in range(0, len(pairs), 2):
        key, value = pairs[place], pairs[place + 1]
        if value is None and call.option("on_null") == "ABSENT":
            continue
        shaped = json_of(value, call.types[place + 1], call.session.zone)
        made[key] = _Raw(value) if place + 1 in raw and value is not None else shaped
    return json_text(made)


def _array(*values: Any, call: Invocation) -> str:
    raw = call.option("raw", ())
    kept = [
        _Raw(value) if place in raw and value is not None else json_of(value, call.types[place], call.session.zone)
        for place, value in enumerate(values)
        if value is not None or call.option("on_null") != "ABSENT"
    ]
    return json_text(kept)


json_object, json_array = per_value(_object, nulls=True), per_value(_array, nulls=True)


def _quote(text: str) -> str:
    return json.dumps(text).replace("/", "\\/")  # which JSON allows, and Flink does


def _unquote(text: str) -> str:
    """A JSON string without its quotes; what is none stays as it is."""
    if not re.fullmatch(r'".*"', text, re.DOTALL):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, str) else text


json_quote, json_unquote = per_value(_quote), per_value(_unquote)


def _parse(text: str) -> str:
    found = _load(text)
    if found is _INVALID:
        raise ValueFailure(f"PARSE_JSON: {text[:80]!r} is no JSON: TRY_PARSE_JSON gives NULL instead of failing")
    return dumps(found)


def _try_parse(text: str) -> str | None:
    found = _load(text)
    return None if found is _INVALID else dumps(found)


parse_json, try_parse_json = per_value(_parse), per_value(_try_parse)


def _json_text(text: str) -> str:
    found = _load(text)
    if found is _INVALID:
        raise ValueFailure(f"JSON: {text[:80]!r} is no JSON")
    return dumps(found)


json_fragment = per_value(_json_text)


def _variant_at(text: str, key: Any) -> str | None:
    """Elements count from 1."""
    found = _load(text)
    if isinstance(key, str):
        return dumps(found[key]) if isinstance(found, dict) and key in found else None
    return dumps(found[key - 1]) if isinstance(found, list) and 1 <= key <= len(found) else None


variant_at = per_value(_variant_at)
