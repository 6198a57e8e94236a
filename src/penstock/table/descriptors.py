"""The descriptors of old PyFlink programs, which are refused: Schema and TableDescriptor took their place."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import NotSupportedError

__all__ = ["Descriptor", "Rowtime", "Schema"]

_WHY = "pyflink.table.descriptors is what Schema.new_builder() and TableDescriptor.for_connector() replaced: use these."


class Descriptor:
    """Refused."""

    def __init__(self, j_descriptor: Any) -> None:
        raise NotSupportedError(_WHY)

    def to_properties(self) -> dict[str, str]:
        raise NotSupportedError(_WHY)


class Rowtime(Descriptor):
    """Refused."""

    def __init__(self) -> None:
        raise NotSupportedError(_WHY)

    def timestamps_from_field(self, field_name: str) -> Rowtime:
        raise NotSupportedError(_WHY)

    def timestamps_from_source(self) -> Rowtime:
        raise NotSupportedError(_WHY)

    def timestamps_from_extractor(self, extractor: str) -> Rowtime:
        raise NotSupportedError(_WHY)

    def watermarks_periodic_ascending(self) -> Rowtime:
        raise NotSupportedError(_WHY)

    def watermarks_periodic_bounded(self, delay: int) -> Rowtime:
        raise NotSupportedError(_WHY)

    def watermarks_from_source(self) -> Rowtime:
        raise NotSupportedError(_WHY)

    def watermarks_from_strategy(self, strategy: str) -> Rowtime:
        raise NotSupportedError(_WHY)


class Schema(Descriptor):
    """Refused."""

    def __init__(self, schema: Any = None, fields: Any = None, rowtime: Any = None) -> None:
        raise NotSupportedError(_WHY)

    def schema(self, table_schema: Any) -> Schema:
        raise NotSupportedError(_WHY)

    def field(self, field_name: str, field_type: Any) -> Schema:
        raise NotSupportedError(_WHY)

    def fields(self, fields: dict[str, Any]) -> Schema:
        raise NotSupportedError(_WHY)

    def from_origin_field(self, origin_field_name: str) -> Schema:
        raise NotSupportedError(_WHY)

    def proctime(self) -> Schema:
        raise NotSupportedError(_WHY)

    def rowtime(self, rowtime: Rowtime) -> Schema:
        raise NotSupportedError(_WHY)
