"""JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.table.fluent.base import Fluent, T
from penstock.table.fluent.literals import node_of
from penstock.table.fluent.units import (
    JsonExistsOnError,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
)

if TYPE_CHECKING:
    from penstock.table.expression import Expression


_WRAPPERS = {
    JsonQueryWrapper.WITHOUT_ARRAY: "WITHOUT",
    JsonQueryWrapper.CONDITIONAL_ARRAY: "CONDITIONAL",
    JsonQueryWrapper.UNCONDITIONAL_ARRAY: "UNCONDITIONAL",
}


class JsonMethods(Fluent[T]):
    def is_json(self, json_type: JsonType | None = None) -> Expression[Any]:
        return self._call("IS_JSON", kind=(json_type or JsonType.VALUE).name)

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Expression[Any]:
        return self._call("JSON_EXISTS", path, on_error=(on_error or JsonExistsOnError.FALSE).name)

    def json_value(
        self,
        path: str,
        returning_type: DataType = DataTypes.STRING(),  # noqa: B008 (PyFlink's signature; types do not change)
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Expression[Any]:
        """The scalar at a path, as another type."""
        return self._call(
            "JSON_VALUE",
            path,
            returning=returning_type,
            on_empty=_outcome(on_empty, default_on_empty),
            on_error=_outcome(on_error, default_on_error),
        )

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Expression[Any]:
        """The object or array at a path, as text."""
        return self._call(
            "JSON_QUERY",
            path,
            returning=DataTypes.STRING(),
            wrapper=_WRAPPERS[wrapping_behavior],
            on_empty=on_empty.name.replace("_", " "),
            on_error=on_error.name.replace("_", " "),
        )

    def json_quote(self) -> Expression[Any]:
        return self._call("JSON_QUOTE")

    def json_unquote(self) -> Expression[Any]:
        return self._call("JSON_UNQUOTE")


def _outcome(kind: JsonValueOnEmptyOrError, default: Any) -> tuple[str, Any]:
    return kind.name, node_of(default) if kind is JsonValueOnEmptyOrError.DEFAULT else None
