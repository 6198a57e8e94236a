"""ParameterTool: the parameters of a program, from arguments, a file, the environment or a dict."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.options import parse_boolean

__all__ = ["ParameterTool"]

T = TypeVar("T")
_NO_VALUE = "__NO_VALUE_KEY"
_NUMBER = re.compile(r"-\d*\.?\d+([eE][-+]?\d+)?")


class ParameterTool:
    """Parameters by name, read in the type that is asked for.

    >>> parameters = ParameterTool.from_args(["--input", "views.log", "-limit", "10", "--verbose"])
    >>> parameters.get("input"), parameters.get_int("limit"), parameters.has("verbose")
    ('views.log', 10, True)
    """

    def __init__(self, data: Mapping[str, str]) -> None:
        self._data = {key: str(value) for key, value in data.items()}
        self._unrequested = set(self._data)

    @staticmethod
    def from_args(args: Sequence[str]) -> ParameterTool:
        """Reads ``--key value``, ``-key value`` and ``--flag``; usually given ``sys.argv[1:]``."""
        data: dict[str, str] = {}
        position = 0
        while position < len(args):
            key = _key_of(args, position)
            position += 1
            if position < len(args) and not _starts_key(args[position]):
                data[key] = args[position]
                position += 1
            else:
                data[key] = _NO_VALUE
        return ParameterTool(data)

    @staticmethod
    def from_properties_file(path: str | os.PathLike[str]) -> ParameterTool:
        """Reads a file of ``key = value`` lines; ``#`` and ``!`` begin comments, ``\\`` continues a line."""
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            raise ConfigurationError(f"The properties file {os.fspath(path)!r} does not exist.") from None
        return ParameterTool(_parse_properties(text))

    @staticmethod
    def from_system_properties() -> ParameterTool:
        """The environment variables of the process, Python's counterpart of Java's system properties."""
        return ParameterTool(dict(os.environ))

    @staticmethod
    def from_map(map: Mapping[str, Any]) -> ParameterTool:
        return ParameterTool(map)

    def get(self, key: str, default_value: str | None = None) -> str | None:
        """The value as text, or the default; None for a flag without value."""
        self._unrequested.discard(key)
        value = self._data.get(key, default_value)
        return default_value if value == _NO_VALUE else value

    def get_required(self, key: str) -> str:
        value = self.get(key)
        if value is None:
            raise ConfigurationError(self._missing_text(key))
        return value

    def get_int(self, key: str, default_value: int | None = None) -> int:
        return self._typed(key, default_value, "a whole number", int)

    def get_long(self, key: str, default_value: int | None = None) -> int:
        return self._typed(key, default_value, "a whole number", int)

    def get_float(self, key: str, default_value: float | None = None) -> float:
        return self._typed(key, default_value, "a number", float)

    def get_double(self, key: str, default_value: float | None = None) -> float:
        return self._typed(key, default_value, "a number", float)

    def get_boolean(self, key: str, default_value: bool | None = None) -> bool:
        """True or false; a flag without value is true."""
        if self._data.get(key) == _NO_VALUE:
            self._unrequested.discard(key)
            return True
        return self._typed(key, default_value, "true or false", parse_boolean)

    def _typed(self, key: str, default_value: T | None, wanted: str, parse: Callable[[str], T]) -> T:
        text = self.get(key)
        if text is None:
            if default_value is None:
                raise ConfigurationError(self._missing_text(key))
            return default_value
        try:
            return parse(text)
        except ValueError:
            raise ConfigurationError(f"Parameter {key!r} must be {wanted}, not {text!r}.") from None

    def has(self, key: str) -> bool:
        self._unrequested.discard(key)
        return key in self._data

    def get_number_of_parameters(self) -> int:
        return len(self._data)

    def get_unrequested_parameters(self) -> set[str]:
        """The names that were given but that nobody has asked for yet: often misspelled ones."""
        return set(self._unrequested)

    def to_map(self) -> dict[str, str]:
        return dict(self._data)

    def get_configuration(self) -> Configuration:
        return Configuration.from_dict(self._data)

    def merge_with(self, other: ParameterTool) -> ParameterTool:
        """Both together; where both have a name, the other one's value counts."""
        merged = ParameterTool({**self._data, **other._data})
        asked_for = (set(self._data) - self._unrequested) | (set(other._data) - other._unrequested)
        merged._unrequested -= asked_for
        return merged

    def _missing_text(self, key: str) -> str:
        if self._data.get(key) == _NO_VALUE:
            return f"Parameter {key!r} was given without a value; write --{key} VALUE."
        known = ", ".join(sorted(self._data)) or "none"
        nearest = difflib.get_close_matches(key, self._data, n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        return f"No value for the required parameter {key!r}. Known parameters: {known}.{hint}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParameterTool) and self._data == other._data

    def __hash__(self) -> int:
        return hash(frozenset(self._data.items()))

    def __repr__(self) -> str:
        return f"ParameterTool({self._data!r})"


def _starts_key(argument: str) -> bool:
    return argument.startswith("-") and not _NUMBER.fullmatch(argument)


def _key_of(args: Sequence[str], position: int) -> str:
    argument = args[position]
    if not _starts_key(argument):
        raise ConfigurationError(
            f"Argument {argument!r} at position {position + 1} belongs to no key: write --key value."
        )
    key = argument.removeprefix("-").removeprefix("-")
    if not key:
        raise ConfigurationError(f"Argument {argument!r} at position {position + 1} has no name after the dashes.")
    return key


def _parse_properties(text: str) -> dict[str, str]:
    data: dict[str, str] = {}
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*", r"\1", text)
    for line in joined.splitlines():
        stripped = line.lstrip(" \t\f")
        if not stripped or stripped[0] in "#!":
            continue
        match = re.match(r"((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)", stripped, re.DOTALL)
        if match is None:
            raise ConfigurationError(f"The line {line!r} of the properties file has no key.")
        data[_unescape(match[1])] = _unescape(match[2])
    return data


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def _unescape(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _ESCAPES.get(match[2], match[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", replace, text)
