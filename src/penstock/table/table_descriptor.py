"""TableDescriptor and FormatDescriptor: a connector's table as a program declares it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.common.config_options import ConfigOption
from penstock.common.errors import ProgramError
from penstock.table.catalog.ddl_text import options_text, shown_options
from penstock.table.catalog.object_names import quoted
from penstock.table.schema import Schema
from penstock.table.sql import statements as st

__all__ = ["FormatDescriptor", "TableDescriptor"]


class TableDescriptor:
    """``TableDescriptor.for_connector("datagen").schema(schema).option("number-of-rows", "3").build()``."""

    def __init__(
        self,
        j_table_descriptor: Any = None,
        *,
        schema: Schema | None = None,
        options: dict[str, str] | None = None,
        partition_keys: tuple[str, ...] = (),
        comment: str | None = None,
    ) -> None:
        self._schema = schema
        self._options = dict(options or {})
        self._partition_keys = partition_keys
        self._comment = comment

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        return TableDescriptor.Builder().option("connector", connector)

    def get_schema(self) -> Schema | None:
        return self._schema

    def get_options(self) -> dict[str, str]:
        return dict(self._options)

    def get_partition_keys(self) -> list[str]:
        return list(self._partition_keys)

    def get_comment(self) -> str | None:
        return self._comment

    def _body(self, schema: Schema | None = None) -> st.TableBody:
        declared = self._schema or schema
        if declared is None:
            raise ProgramError("The TableDescriptor needs a schema: .schema(Schema.new_builder()...build()).")
        options = tuple(self._options.items())
        return replace(declared._body, comment=self._comment, partitioned_by=self._partition_keys, options=options)

    def __str__(self) -> str:
        lines = [str(self._schema)] if self._schema is not None else []
        if self._comment is not None:
            lines.append(f"COMMENT '{self._comment}'")
        if self._partition_keys:
            lines.append(f"PARTITIONED BY ({', '.join(quoted(key) for key in self._partition_keys)})")
        lines.append(f"WITH (\n{options_text(shown_options(tuple(self._options.items())))}\n)")
        return "\n".join(lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._options.items())))

    class Builder:
        """Collects the parts of a table."""

        def __init__(self, j_builder: Any = None) -> None:
            self._schema: Schema | None = None
            self._options: dict[str, str] = {}
            self._partition_keys: tuple[str, ...] = ()
            self._comment: str | None = None

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            self._schema = schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Any) -> TableDescriptor.Builder:
            self._options[_key(key)] = _text(value)
            return self

        def format(
            self, format: str | FormatDescriptor, format_option: ConfigOption[str] | None = None
        ) -> TableDescriptor.Builder:
            key = "format" if format_option is None else _key(format_option)
            described = FormatDescriptor.for_format(format).build() if isinstance(format, str) else format
            prefix = (
                described.get_format() if key == "format" else f"{key.removesuffix('.format')}.{described.get_format()}"
            )
            self._options[key] = described.get_format()
            for name, value in described.get_options().items():
                self._options[f"{prefix}.{name}"] = value
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            self._partition_keys = partition_keys
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            return TableDescriptor(
                schema=self._schema,
                options=self._options,
                partition_keys=self._partition_keys,
                comment=self._comment,
            )


class FormatDescriptor:
    """A format with its options."""

    def __init__(
        self, j_format_descriptor: Any = None, *, name: str = "", options: dict[str, str] | None = None
    ) -> None:
        self._name = name
        self._options = dict(options or {})

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        return FormatDescriptor.Builder(format)

    def get_format(self) -> str:
        return self._name

    def get_options(self) -> dict[str, str]:
        return dict(self._options)

    def __str__(self) -> str:
        return f"{self._name}[{self._options}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FormatDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._name, tuple(sorted(self._options.items()))))

    class Builder:
        """Collects options."""

        def __init__(self, j_builder: str) -> None:
            self._name = j_builder
            self._options: dict[str, str] = {}

        def option(self, key: str | ConfigOption[Any], value: Any) -> FormatDescriptor.Builder:
            self._options[_key(key)] = _text(value)
            return self

        def build(self) -> FormatDescriptor:
            return FormatDescriptor(name=self._name, options=self._options)


def _key(key: str | ConfigOption[Any]) -> str:
    return key.key if isinstance(key, ConfigOption) else key


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
