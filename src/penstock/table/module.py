"""Modules: sets of built-in functions."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import NotSupportedError

__all__ = ["HiveModule", "Module", "ModuleEntry"]


class Module:
    """A set of functions; there is one, ``core``."""

    def __init__(self, j_module: Any = None) -> None:
        self._module = j_module


class HiveModule(Module):
    """Refused: Hive's functions are Java."""

    def __init__(self, hive_version: str | None = None) -> None:
        raise NotSupportedError("HiveModule holds Java functions, which do not run here: use Python functions.")


class ModuleEntry:
    """A loaded module, and whether its functions are found."""

    def __init__(self, name: str, used: bool, j_module_entry: Any = None) -> None:
        self._name = name
        self._used = used

    def name(self) -> str:
        return self._name

    def used(self) -> bool:
        return self._used

    def __repr__(self) -> str:
        return f"ModuleEntry(name={self._name!r}, used={self._used})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleEntry) and (self._name, self._used) == (other._name, other._used)

    def __hash__(self) -> int:
        return hash(self._name)
