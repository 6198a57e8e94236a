"""How the part files of a file sink are called."""

from __future__ import annotations

from penstock.common.utils import JavaObjectWrapper

__all__ = ["OutputFileConfig"]


class OutputFileConfig(JavaObjectWrapper):
    """Prefix and suffix of part files: ``<prefix>-<unique id>-<number><suffix>``.

    >>> config = OutputFileConfig.builder().with_part_prefix("orders").with_part_suffix(".txt").build()
    >>> config.get_part_prefix(), config.get_part_suffix()
    ('orders', '.txt')
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        super().__init__()
        for name, value in (("prefix", part_prefix), ("suffix", part_suffix)):
            if not isinstance(value, str) or "/" in value:
                raise ValueError(f"The {name} of part files is a text without '/', not {value!r}.")
        self._part_prefix = part_prefix
        self._part_suffix = part_suffix

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        return self._part_prefix

    def get_part_suffix(self) -> str:
        return self._part_suffix

    class OutputFileConfigBuilder:
        """Builds an :class:`OutputFileConfig`; without changes files are called ``part-...``."""

        def __init__(self) -> None:
            self._prefix = "part"
            self._suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            self._prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            self._suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            return OutputFileConfig(self._prefix, self._suffix)
