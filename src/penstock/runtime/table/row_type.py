"""The type of a stream of table rows: names and SQL types of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.columns.typesystem.base import DataType
from penstock.common.typeinfo import TypeInformation


class TableRowType(TypeInformation):
    """Declares that the records of a stream are rows of a table, which travel as columns with kinds.

    >>> from penstock.columns.typesystem.data_types import DataTypes
    >>> TableRowType(["id"], [DataTypes.BIGINT(False)])
    ROW<`id` BIGINT NOT NULL>
    """

    def __init__(self, names: Sequence[str], types: Sequence[DataType]) -> None:
        self.names = tuple(names)
        self.types = tuple(types)

    def __len__(self) -> int:
        return len(self.types)

    def _identity(self) -> tuple[Any, ...]:
        return (self.names, self.types)

    def __repr__(self) -> str:
        columns = zip(self.names, self.types, strict=True)
        return f"ROW<{', '.join(f'`{name}` {kind.as_serializable_string()}' for name, kind in columns)}>"
