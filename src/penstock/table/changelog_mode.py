"""Which kinds of changes a stream of rows has."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError

__all__ = ["ChangelogMode"]


class ChangelogMode:
    """Insertions only; updates by key; or all changes, with the rows as they were."""

    def __init__(self, j_changelog_mode: Any = None, *, kinds: str = "", before: bool = True) -> None:
        if not kinds:
            raise ProgramError("Use ChangelogMode.insert_only(), upsert() or all().")
        self._kinds = kinds
        self._before = before

    @staticmethod
    def insert_only() -> ChangelogMode:
        return ChangelogMode(kinds="I")

    @staticmethod
    def upsert() -> ChangelogMode:
        return ChangelogMode(kinds="IUD", before=False)

    @staticmethod
    def all() -> ChangelogMode:
        return ChangelogMode(kinds="IUD")
