"""PyFlink's serializer between its Python and Java halves, which there are not here."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import NotSupportedError

__all__ = ["ArrowSerializer"]

_WHY = "ArrowSerializer moves rows between Python and Java, which is not there: use TableResult.to_arrow()."


class ArrowSerializer:
    """Refused."""

    def __init__(self, schema: Any, row_type: Any, timezone: Any) -> None:
        raise NotSupportedError(_WHY)

    def serialize(self, iterable: Any, stream: Any) -> None:
        raise NotSupportedError(_WHY)

    def deserialize(self, stream: Any) -> Any:
        raise NotSupportedError(_WHY)

    def load_from_iterator(self, iter: Any) -> Any:
        raise NotSupportedError(_WHY)
