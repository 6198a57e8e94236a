"""Frozen data classes to JSON and back, by their annotations: the one place where records become text."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Enumerations by name, data classes as objects, tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        return {key: to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    return value


def from_json(type_: type[T], data: Any) -> T:
    """Raises ValueError, TypeError or KeyError for what does not fit; fields that are not known are left out."""
    return cast(T, _read(type_, data))


def _read(type_: Any, data: Any) -> Any:
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, types.UnionType):
        return None if data is None else _read(next(each for each in arguments if each is not type(None)), data)
    if origin is tuple:
        return tuple(_read(arguments[0], each) for each in _checked(data, list))
    if origin is dict:
        return {key: _read(arguments[1], each) for key, each in _checked(data, dict).items()}
    if dataclasses.is_dataclass(type_):
        return _read_object(type_, data)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return type_[data]
    if type_ is Any:
        return data
    return _checked(data, (int, float) if type_ is float else type_)


def _read_object(type_: Any, data: Any) -> Any:
    upgrade = getattr(type_, "from_older_json", None)
    if upgrade is not None:
        data = upgrade(data)
    # Records of older versions have names with spaces.
    by_name = {name.replace(" ", "_"): value for name, value in _checked(data, dict).items()}
    return type_(**{name: _read(hint, by_name[name]) for name, hint in _hints(type_).items() if name in by_name})


@functools.cache
def _hints(type_: Any) -> dict[str, Any]:
    return get_type_hints(type_)


def _checked(data: Any, type_: Any) -> Any:
    if not isinstance(data, type_):
        raise TypeError(f"{data!r} is not of the type {type_}")
    return data
