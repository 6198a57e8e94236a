"""The windows themselves: intervals, counts, everything; and their serializers."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING

from penstock.common.serializer import TypeSerializer

if TYPE_CHECKING:
    from penstock.functions.window_assigners import MergingWindowAssigner

__all__ = [
    "CountWindow",
    "CountWindowSerializer",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "TimeWindow",
    "TimeWindowSerializer",
    "Window",
    "long_to_int_with_bit_mixing",
    "mod_inverse",
]

MAX_LONG_VALUE = 2**63 - 1
MIN_LONG_VALUE = -(2**63)

_TWO_LONGS = struct.Struct(">qq")
_ONE_LONG = struct.Struct(">q")


def long_to_int_with_bit_mixing(x: int) -> int:
    """Spread the bits of a number over all others (the finalizer of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> shift)) * factor
    return x ^ (x >> 31)


def mod_inverse(x: int) -> int:
    """The inverse of an odd number modulo a power of two, by Newton's iteration."""
    inverse = x**3
    for _ in range(3):
        inverse *= 2 - x * inverse
    return inverse


class Window(ABC):
    """A finite group of elements of one stream."""

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """The largest timestamp that belongs to the window: complete when the watermark gets here."""


class TimeWindow(Window):
    """An interval of time from ``start`` (inclusive) to ``end`` (exclusive), in epoch milliseconds."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Whether the two overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """The smallest window that contains both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """The start of the window that a timestamp belongs to, if windows start at multiples of the size
        shifted by ``offset``. Right for negative timestamps too."""
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]) -> None:
        """Tell the callback of every group of windows that overlap or touch, and what covers the group."""
        group: list[TimeWindow] = []
        covering: TimeWindow | None = None
        for window in sorted(set(windows)):
            if covering is not None and covering.intersects(window):
                covering = covering.cover(window)
                group.append(window)
                continue
            if covering is not None and len(group) > 1:
                callback.merge(group, covering)
            covering, group = window, [window]
        if covering is not None and len(group) > 1:
            callback.merge(group, covering)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__:
            return False
        assert isinstance(other, TimeWindow)
        return self.start == other.start and self.end == other.end

    def __lt__(self, other: TimeWindow) -> bool:
        if not isinstance(other, TimeWindow):
            raise TypeError(f"a TimeWindow can only be compared with a TimeWindow, not with {other!r}")
        return (self.start, self.end) < (other.start, other.end)

    def __le__(self, other: TimeWindow) -> bool:
        return self == other or self < other

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class CountWindow(Window):
    """The window of a group of elements by number; ``id`` tells a key's groups apart."""

    __slots__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id

    def max_timestamp(self) -> int:
        return MAX_LONG_VALUE

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountWindow) and self.__class__ is other.__class__ and self.id == other.id

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The one window that holds everything."""

    __slots__ = ()

    def __init__(self) -> None:
        pass

    @staticmethod
    def get() -> GlobalWindow:
        """The window; all instances are equal."""
        return _GLOBAL_WINDOW

    def max_timestamp(self) -> int:
        return MAX_LONG_VALUE

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


_GLOBAL_WINDOW = GlobalWindow()


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Start and end as two big-endian longs."""

    def __init__(self) -> None:
        super().__init__()

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        stream.write(_TWO_LONGS.pack(element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        return TimeWindow(*_TWO_LONGS.unpack(stream.read(_TWO_LONGS.size)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """The id as a big-endian long."""

    def __init__(self) -> None:
        super().__init__()

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        stream.write(_ONE_LONG.pack(element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        return CountWindow(*_ONE_LONG.unpack(stream.read(_ONE_LONG.size)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """One zero byte."""

    def __init__(self) -> None:
        super().__init__()

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        stream.write(b"\0")

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        stream.read(1)
        return GlobalWindow.get()
