"""Helpers that PyFlink's own modules use; programs call none of them."""

from __future__ import annotations

from typing import Any

from penstock.columns.typesystem.base import DataType
from penstock.common.errors import NotSupportedError

__all__ = [
    "arrow_to_pandas",
    "pandas_to_arrow",
    "pickled_bytes_to_python_converter",
    "to_expression_jarray",
    "tz_convert_from_internal",
    "tz_convert_to_internal",
]

_WHY = (
    "pyflink.table.utils serves PyFlink's link to Java, which is not there: use from_pandas(), to_pandas(), to_arrow()."
)


def pandas_to_arrow(schema: Any, timezone: Any, field_types: Any, series: Any) -> Any:
    raise NotSupportedError(_WHY)


def arrow_to_pandas(timezone: Any, field_types: Any, batches: Any) -> Any:
    raise NotSupportedError(_WHY)


def tz_convert_from_internal(s: Any, t: DataType, local_tz: Any) -> Any:
    raise NotSupportedError(_WHY)


def tz_convert_to_internal(s: Any, t: DataType, local_tz: Any) -> Any:
    raise NotSupportedError(_WHY)


def to_expression_jarray(exprs: Any) -> Any:
    raise NotSupportedError(_WHY)


def pickled_bytes_to_python_converter(data: Any, field_type: DataType) -> Any:
    raise NotSupportedError(_WHY)
