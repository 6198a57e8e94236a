"""Which of several drivers may act for a job: a question of its own, beside where its files are."""

from __future__ import annotations

from abc import ABC, abstractmethod

from penstock.storage.base import Storage

_TERMS = "leader"


class Leadership(ABC):
    """At most one driver leads at a time. Terms are numbered, so that what earlier leaders write can be told apart."""

    @abstractmethod
    def acquire(self, who: str, take_over: bool = False) -> int | None:
        """The number of the term in which the caller leads; None when somebody else does, who was not taken over."""

    @abstractmethod
    def leads(self) -> bool:
        """Whether the caller leads still: asked before anything becomes visible."""

    @abstractmethod
    def leader(self) -> str | None:
        """Who leads, or led last."""

    @abstractmethod
    def release(self) -> None:
        """The caller leads no more, and others need not take over."""


class StorageLeadership(Leadership):
    """One file for each term, which only one driver can create. Needs nothing but a storage, and nobody's clock.

    It does not notice that a leader has died: whoever knows says so with `take_over`.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._term: int | None = None

    def acquire(self, who: str, take_over: bool = False) -> int | None:
        newest = self._newest()
        if newest and not take_over and not self._storage.exists(_released(newest)):
            return None
        if not self._storage.create(_term(newest + 1), who.encode()):
            return None  # another one was quicker in this moment
        self._term = newest + 1
        return self._term

    def leads(self) -> bool:
        return self._term is not None and self._newest() == self._term

    def leader(self) -> str | None:
        newest = self._newest()
        return self._storage.read(_term(newest)).decode() if newest else None

    def release(self) -> None:
        if self._term is not None:
            self._storage.write(_released(self._term), b"")
            self._term = None

    def _newest(self) -> int:
        names = [name.removeprefix(f"{_TERMS}/") for name in self._storage.names(f"{_TERMS}/")]
        return max((int(name) for name in names if name.isdigit()), default=0)


def _term(number: int) -> str:
    return f"{_TERMS}/{number:012d}"


def _released(number: int) -> str:
    return f"{_term(number)}.released"
