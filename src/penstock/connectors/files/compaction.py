"""Compaction of part files: the names of PyFlink, which can be built but not used yet."""

from __future__ import annotations

from typing import Any

from penstock.common.utils import JavaObjectWrapper

__all__ = ["FileCompactStrategy", "FileCompactor"]


class FileCompactStrategy(JavaObjectWrapper):
    """When part files would be compacted. ``FileSink`` refuses it so far."""

    def __init__(self, j_file_compact_strategy: Any = None) -> None:
        super().__init__(j_file_compact_strategy)

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        return FileCompactStrategy.Builder()

    class Builder:
        def __init__(self) -> None:
            self._settings: dict[str, int] = {}

        def build(self) -> FileCompactStrategy:
            return FileCompactStrategy()

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            return self._set("num_checkpoints_before_compaction", num_checkpoints_before_compaction)

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            return self._set("size_threshold", size_threshold)

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            return self._set("num_compact_threads", num_compact_threads)

        def _set(self, name: str, value: int) -> FileCompactStrategy.Builder:
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"FileCompactStrategy: {name} is a whole number, not {value!r}.")
            self._settings[name] = value
            return self


class FileCompactor(JavaObjectWrapper):
    """How part files would be compacted. ``FileSink`` refuses it so far."""

    def __init__(self, j_file_compactor: Any = None) -> None:
        super().__init__(j_file_compactor)

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        return FileCompactor()

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        return FileCompactor()
