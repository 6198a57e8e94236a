"""State as rows: by key and namespace, for loops, pandas and Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.state_schema import StateSchema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class StateRow(NamedTuple):
    """One entry. The namespace is the window of window state, and None for state of user functions."""

    key: Any
    namespace: Any
    value: Any


class StateRows:
    """The entries of one state: iterate over them, or take all of them as a table."""

    def __init__(self, rows: list[StateRow]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[StateRow]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with the columns key, namespace and value."""
        import pandas as pd

        return pd.DataFrame(self._rows, columns=list(StateRow._fields))

    def to_arrow(self) -> pa.Table:
        """An Arrow table with the columns key, namespace and value; raises ArrowInvalid where Arrow has no type."""
        import pyarrow as pa

        columns = zip(*self._rows, strict=True) if self._rows else ((), (), ())
        return pa.table({name: pa.array(list(column)) for name, column in zip(StateRow._fields, columns, strict=True)})


def rows_of(schema: StateSchema, delta: dict[Any, Any], layout: KeyLayout) -> Iterator[StateRow]:
    """The rows of a table's full delta."""
    by_list_or_map = schema.holds_lists() or schema.holds_maps()
    for key, content in delta.items():
        value = content[1] if by_list_or_map else content
        match layout:
            case KeyLayout.KEY:
                yield StateRow(key, None, value)
            case KeyLayout.KEY_FIRST:
                yield StateRow(key[0], key[1] if len(key) == 2 else key[1:], value)
            case KeyLayout.INSIDE:
                for inner_key, inner_value in value.items():
                    yield StateRow(inner_key, key, inner_value)
            case KeyLayout.SHARED:
                yield StateRow(None, key, value)
