"""What flows between operators: batches of records, with control elements at their exact places between them.

Operators work on lists instead of single records because a Python call per record and operator is what makes
other Python stream processors slow; order and meaning are those of a record-by-record engine.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

MIN_TIMESTAMP: Final = -(1 << 63)
MAX_TIMESTAMP: Final = (1 << 63) - 1


class Batch:
    """Records that follow each other on one channel with no control element between them."""

    __slots__ = ("keys", "timestamps", "values")

    def __init__(self, values: list[Any], timestamps: list[int] | None = None, keys: list[Any] | None = None) -> None:
        self.values = values
        self.timestamps = timestamps  # None: no record carries a timestamp
        self.keys = keys  # present only behind a key exchange

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Batch({self.values!r}, timestamps={self.timestamps!r}, keys={self.keys!r})"

    def slice(self, start: int, end: int) -> Batch:
        """The records from start to end, sharing the objects."""
        return Batch(
            self.values[start:end],
            None if self.timestamps is None else self.timestamps[start:end],
            None if self.keys is None else self.keys[start:end],
        )


class Watermark(NamedTuple):
    """No record with this timestamp or an earlier one is expected behind this point of a channel."""

    timestamp: int


class Idleness(NamedTuple):
    """The channel stops (or starts again) to take part in the watermark."""

    idle: bool


class EndOfInput(NamedTuple):
    """Nothing follows on this channel, ever."""


Control = Watermark | Idleness | EndOfInput
END_OF_INPUT: Final = EndOfInput()
