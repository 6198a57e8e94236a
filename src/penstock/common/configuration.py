"""Configuration: keys and values that a program or the command line sets."""

from __future__ import annotations

import base64
import binascii
import builtins
from collections.abc import Callable
from typing import Any, TypeVar, cast  # noqa: UP035 (the method set() hides the type)

from penstock.common import options
from penstock.common.config_options import ConfigOption
from penstock.common.credentials import shown_settings
from penstock.common.errors import ConfigurationError
from penstock.common.text import java_text
from penstock.common.utils import refuse_java_object
from penstock.common.yaml_list import yaml_list

__all__ = ["Configuration"]

V = TypeVar("V")
Value = str | int | float | bool | bytes
_BINARY_MARK = "base64:"


class Configuration:
    """Keys and values, kept in the type that they were set in and read in the one that is asked for.

    >>> configuration = Configuration.from_dict({"parallelism.default": "4"})
    >>> configuration.get_integer("parallelism.default", 1)
    4
    """

    def __init__(self, other: Configuration | None = None, j_configuration: Any = None) -> None:
        refuse_java_object(
            "Configuration", "j_configuration", j_configuration, "Build it with Configuration.from_dict()."
        )
        self._entries: dict[str, Value] = {} if other is None else dict(other._entries)

    @classmethod
    def from_dict(cls, map: dict[str, str]) -> Configuration:
        configuration = cls()
        for key, value in map.items():
            configuration.set(key, value)
        return configuration

    def set(self, key: str | ConfigOption[Any], value: Any) -> Configuration:
        """Sets a key, or an option made with :class:`ConfigOptions`, to a value of any type."""
        name = key.key if isinstance(key, ConfigOption) else key
        if not isinstance(name, str):
            raise TypeError(f"A configuration key is a str, not {name!r}.")
        self._entries[name] = _kept(value)
        return self

    def get(self, option: ConfigOption[V], default_value: V | None = None) -> V | None:
        """The value of an option made with :class:`ConfigOptions`, in the option's type, or its default."""
        fallback = option.default if default_value is None else default_value
        return cast("V | None", self._read(option.key, fallback, option.value_type, option.parse))

    def get_string(self, key: str, default_value: str | None) -> Any:
        return _to_text(self._entries[key]) if key in self._entries else default_value

    def set_string(self, key: str, value: str) -> Configuration:
        return self.set(key, value)

    def get_integer(self, key: str, default_value: int | None) -> Any:
        return self._read(key, default_value, "int", int)

    def set_integer(self, key: str, value: int) -> Configuration:
        return self.set(key, value)

    def get_boolean(self, key: str, default_value: bool | None) -> Any:
        return self._read(key, default_value, "bool", options.parse_boolean)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        return self.set(key, value)

    def get_float(self, key: str, default_value: float | None) -> Any:
        return self._read(key, None if default_value is None else float(default_value), "float", float)

    def set_float(self, key: str, value: float) -> Configuration:
        return self.set(key, float(value))

    def get_bytearray(self, key: str, default_value: bytearray | None) -> Any:
        return self._read(key, default_value, "bytearray", _to_bytes)

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        return self.set(key, value)

    def _read(self, key: str, default_value: Any, type_name: str, parse: Callable[[str], Any]) -> Any:
        if key not in self._entries:
            return default_value
        text = _to_text(self._entries[key])
        try:
            return parse(text)
        except ValueError as error:
            raise ConfigurationError(f"The value {text!r} of {key!r} is not of type {type_name}: {error}.") from None

    @staticmethod
    def parse_list_value(value: str | None) -> list[Any]:
        """The elements of a list, written 'a;b' or in YAML's way, where numbers are numbers: '[a, 2]'."""
        return yaml_list(value)

    def key_set(self) -> builtins.set[str]:
        return set(self._entries)

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Puts all entries into a dict, each in the type that it was set in."""
        target_dict.update(self._entries)

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Takes over all entries of another configuration, their keys after the prefix."""
        for key, value in other._entries.items():
            self._entries[(prefix or "") + key] = value
        return self

    def contains_key(self, key: str) -> bool:
        return key in self._entries

    def to_dict(self) -> dict[str, str]:
        """All entries as text."""
        return {key: _to_text(value) for key, value in self._entries.items()}

    def remove_config(self, key: str) -> bool:
        """Removes a key; False when it was not there."""
        return self._entries.pop(key, None) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Configuration) or self._entries != other._entries:
            return False
        return all(type(value) is type(other._entries[key]) for key, value in self._entries.items())

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __str__(self) -> str:
        return "{{{}}}".format(", ".join(f"{key}={text}" for key, text in shown_settings(self.to_dict()).items()))

    def __repr__(self) -> str:
        return f"Configuration({self})"


def _kept(value: Any) -> Value:
    if isinstance(value, bytearray):
        return bytes(value)
    return value if isinstance(value, (str, int, float, bytes)) else str(value)


def _to_text(value: Value) -> str:
    """As Java writes it: true, 1.0E10."""
    if isinstance(value, bytes):
        return _BINARY_MARK + base64.b64encode(value).decode("ascii")
    return java_text(value)


def _to_bytes(text: str) -> bytearray:
    if not text.startswith(_BINARY_MARK):
        raise ValueError("bytes must have been set with set_bytearray()")
    try:
        return bytearray(base64.b64decode(text[len(_BINARY_MARK) :], validate=True))
    except binascii.Error as error:
        raise ValueError(str(error)) from None
