"""ModelDescriptor: a model by its provider and schemas."""

from __future__ import annotations

from typing import Any

from penstock.common.config_options import ConfigOption
from penstock.table.schema import Schema

__all__ = ["ModelDescriptor"]


class ModelDescriptor:
    """Kept in catalogs; no query can call models yet."""

    def __init__(self, j_model_descriptor: Any = None) -> None:
        self._options: dict[str, str] = {}
        self._input_schema: Schema | None = None
        self._output_schema: Schema | None = None
        self._comment: str | None = None

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptor.Builder:
        return ModelDescriptor.Builder().option("provider", provider)

    def get_options(self) -> dict[str, str]:
        return dict(self._options)

    def get_input_schema(self) -> Schema | None:
        return self._input_schema

    def get_output_schema(self) -> Schema | None:
        return self._output_schema

    def get_comment(self) -> str | None:
        return self._comment

    class Builder:
        """Collects the parts of a model."""

        def __init__(self, j_builder: Any = None) -> None:
            self._model = ModelDescriptor()

        def input_schema(self, input_schema: Schema) -> ModelDescriptor.Builder:
            self._model._input_schema = input_schema
            return self

        def output_schema(self, output_schema: Schema) -> ModelDescriptor.Builder:
            self._model._output_schema = output_schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Any) -> ModelDescriptor.Builder:
            self._model._options[key.key if isinstance(key, ConfigOption) else key] = str(value)
            return self

        def comment(self, comment: str) -> ModelDescriptor.Builder:
            self._model._comment = comment
            return self

        def build(self) -> ModelDescriptor:
            return self._model
