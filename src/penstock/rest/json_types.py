"""Typed dictionaries as JSON schemas, and whether a value is what one of them says."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}
_NAMES = {str: "string", bool: "boolean", int: "whole number", float: "number", dict: "object", list: "list"}


def schema_of(type_: Any, named: dict[str, Schema]) -> Schema:
    """Typed dictionaries are collected in `named` and referred to."""
    origin, arguments = get_origin(type_), get_args(type_)
    if type_ in _PLAIN:
        return dict(_PLAIN[type_])
    if is_typeddict(type_):
        if type_.__name__ not in named:
            named[type_.__name__] = {}  # a type may contain itself
            named[type_.__name__] = _object(type_, named)
        return {"$ref": f"#/components/schemas/{type_.__name__}"}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(each, named) for each in arguments]}
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0], named)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], named)}
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    raise TypeError(f"{type_} has no JSON schema")


def _object(type_: Any, named: dict[str, Schema]) -> Schema:
    hints = fields_of(type_)
    schema: Schema = {
        "type": "object",
        "properties": {name: schema_of(each, named) for name, each in hints.items()},
        "additionalProperties": False,
    }
    if type_.__required_keys__:
        schema["required"] = sorted(type_.__required_keys__)
    return schema


def fields_of(type_: Any) -> dict[str, Any]:
    return typing.get_type_hints(type_)


def mistakes(value: Any, type_: Any, where: str = "") -> Iterator[str]:
    """What is wrong with the value, in sentences; `where` names the field in question."""
    origin, arguments = get_origin(type_), get_args(type_)
    if type_ in (Any, object):
        return
    if origin in (Union, types.UnionType):
        found = [list(mistakes(value, each, where)) for each in arguments]
        if all(found):
            yield from min(found, key=len)
    elif is_typeddict(type_):
        yield from _field_mistakes(value, type_, where)
    elif origin is list:
        yield from _kind_mistake(value, list, where)
        for index, each in enumerate(value if isinstance(value, list) else ()):
            yield from mistakes(each, arguments[0], f"{where}[{index}]")
    elif origin is dict:
        yield from _kind_mistake(value, dict, where)
        for key, each in value.items() if isinstance(value, dict) else ():
            yield from mistakes(each, arguments[1], f"{where}.{key}")
    elif origin is Literal:
        if value not in arguments:
            yield f"the field {where!r} is one of {', '.join(arguments)}"
    else:
        yield from _kind_mistake(value, type_, where)


def _field_mistakes(value: Any, type_: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{repr(where) if where else 'the body'} must be a JSON object"
        return
    hints, prefix = fields_of(type_), f"{where}." if where else ""
    for name in value.keys() - hints.keys():
        yield f"the field {prefix + name!r} is not known here; known are {', '.join(sorted(hints))}"
    for name in sorted(type_.__required_keys__ - value.keys()):
        yield f"the field {prefix + name!r} is missing"
    for name, each in hints.items():
        if name in value:
            yield from mistakes(value[name], each, prefix + name)


def _kind_mistake(value: Any, type_: Any, where: str) -> Iterator[str]:
    if type_ is type(None):
        fits = value is None
    elif type_ is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = isinstance(value, type_) and not (type_ is int and isinstance(value, bool))
    if not fits:
        yield f"the field {where!r} must be a {_NAMES.get(type_, 'null')}"
