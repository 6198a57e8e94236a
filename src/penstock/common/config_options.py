"""Options that a program defines itself: a key, a type and perhaps a default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from penstock.common.options import parse_boolean

__all__ = ["ConfigOption", "ConfigOptions"]

T = TypeVar("T")


class ConfigOptions:
    """Builds options: ``ConfigOptions.key("my.limit").int_type().default_value(10)``."""

    def __init__(self, key: str | None = None) -> None:
        raise TypeError('Write ConfigOptions.key("my.key").int_type().default_value(10) to define an option.')

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """Has the key and asks for the type."""

        def __init__(self, key: str) -> None:
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "bool", parse_boolean)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "int", int)

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "long", int)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "float", float)

        def double_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "double", float)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            return ConfigOptions.TypedConfigOptionBuilder(self._key, "string", str)

    class TypedConfigOptionBuilder(Generic[T]):
        """Has key and type and asks for the default."""

        def __init__(self, key: str, value_type: str, parse: Callable[[str], T]) -> None:
            self._key = key
            self._value_type = value_type
            self._parse = parse

        def default_value(self, value: T) -> ConfigOption[T]:
            return ConfigOption(self._key, self._value_type, self._parse, value)

        def no_default_value(self) -> ConfigOption[T]:
            return ConfigOption(self._key, self._value_type, self._parse, cast(T, None))


class ConfigOption(Generic[T]):
    """One option; read it with ``configuration.get(option)``."""

    def __init__(self, key: str, value_type: str, parse: Callable[[str], Any], default: T) -> None:
        self.key = key
        self.value_type = value_type
        self.parse = parse
        self.default = default

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConfigOption) and (self.key, self.value_type, self.default) == (
            other.key,
            other.value_type,
            other.default,
        )

    def __hash__(self) -> int:
        return hash((self.key, self.value_type))

    def __repr__(self) -> str:
        return f"ConfigOption({self.key!r}, {self.value_type}, default={self.default!r})"
