"""Looking up rows of an outside table by key, for lookup joins and for enriching a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from penstock.common.errors import NotSupportedError

__all__ = ["LookupFunction"]


class LookupFunction(ABC):
    """Answers many keys with one question to the outside. It is pickled, so let :meth:`open` connect."""

    def open(self) -> None:
        """Connect. Called in the worker before the first lookup."""

    @abstractmethod
    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
        """For each key the rows that have it, none for a key that is not there, in the order of the keys."""

    def everything(self) -> dict[tuple[Any, ...], list[Any]]:
        """All rows by key, for a cache that holds the whole table."""
        raise NotSupportedError(f"{type(self).__name__} cannot read a whole table: use 'lookup.cache' = 'PARTIAL'.")

    def close(self) -> None:
        """Disconnect. Also called after failures."""
