"""When small part files are put together, and how: PyFlink's names."""

from __future__ import annotations

from typing import Any

from penstock.common.utils import JavaObjectWrapper

__all__ = ["FileCompactStrategy", "FileCompactor"]


class FileCompactStrategy(JavaObjectWrapper):
    """When the part files of a bucket are compacted: after so many epochs, or at so many bytes, whichever is first."""

    def __init__(
        self,
        j_file_compact_strategy: Any = None,
        *,
        epochs: int | None = None,
        size: int | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(j_file_compact_strategy)
        self.epochs = epochs
        self.size = size
        self.threads = threads

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        return FileCompactStrategy.Builder()

    def wants(self, epochs: int, size: int) -> bool:
        """Whether files that have waited so long and are so large together are to be compacted."""
        return (self.epochs is not None and epochs >= self.epochs) or (self.size is not None and size >= self.size)

    class Builder:
        """At least one of the two conditions has to be set."""

        def __init__(self) -> None:
            self._settings: dict[str, int] = {}

        def build(self) -> FileCompactStrategy:
            if not self._settings.keys() & {"epochs", "size"}:
                raise ValueError(
                    "FileCompactStrategy: say when files are compacted, with enable_compaction_on_checkpoint(n),"
                    " set_size_threshold(bytes) or both."
                )
            return FileCompactStrategy(**self._settings)

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """After so many epochs that have brought files."""
            return self._set("epochs", num_checkpoints_before_compaction)

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """As soon as the files of a bucket have so many bytes together."""
            return self._set("size", size_threshold)

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """How many buckets are compacted at a time."""
            return self._set("threads", num_compact_threads)

        def _set(self, name: str, value: int) -> FileCompactStrategy.Builder:
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"FileCompactStrategy: {name} is a whole number, not {value!r}.")
            if value <= 0:
                raise ValueError(f"FileCompactStrategy: {name} must be greater than zero, not {value}.")
            self._settings[name] = value
            return self


class FileCompactor(JavaObjectWrapper):
    """How part files become one."""

    def __init__(self, j_file_compactor: Any = None, *, concatenates: bool = False, delimiter: bytes = b"") -> None:
        super().__init__(j_file_compactor)
        self.concatenates = concatenates
        self.delimiter = delimiter

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """One after the other, each followed by the delimiter. For formats of records, such as lines."""
        if file_delimiter is not None and not isinstance(file_delimiter, bytes):
            raise TypeError(f"concat_file_compactor() takes bytes as delimiter, not {file_delimiter!r}.")
        return FileCompactor(concatenates=True, delimiter=file_delimiter or b"")

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Every file stays as it is."""
        return FileCompactor()
