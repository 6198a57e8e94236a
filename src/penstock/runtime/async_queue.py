"""What an asynchronous operator has taken in and not yet passed on, in the order in which it may leave."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from penstock.runtime.async_calls import Call
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Idleness, Watermark

Element = Watermark | Idleness


class _Segment:
    """Calls between two control elements: these never change places with a record."""

    __slots__ = ("end", "finished", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[Call, None] = {}  # by arrival
        self.finished: list[Call] = []  # by completion, if order does not matter
        self.end: Element | None = None  # None: still open


class AsyncQueue:
    """Results leave by completion, or with `ordered` by arrival; control elements stay where they are."""

    def __init__(self, ordered: bool) -> None:
        self._ordered = ordered
        self._segments: deque[_Segment] = deque([_Segment()])
        self._segment_of: dict[Call, _Segment] = {}

    def __len__(self) -> int:
        return len(self._segment_of)

    def __bool__(self) -> bool:
        return bool(self._segment_of) or len(self._segments) > 1

    def append(self, call: Call) -> None:
        segment = self._segments[-1]
        segment.waiting[call] = None
        self._segment_of[call] = segment

    def append_control(self, element: Element) -> None:
        before = self._segments[-2] if len(self._segments) > 1 else None
        last = self._segments[-1]
        if before is not None and not last.waiting and not last.finished and type(before.end) is type(element):
            before.end = element  # nothing is between the two: the later one says it all
            return
        last.end = element
        self._segments.append(_Segment())

    def finish(self, call: Call) -> None:
        """The call is done; a call that was dropped is ignored."""
        segment = self._segment_of.get(call)
        if segment is not None and not self._ordered:
            del segment.waiting[call]
            segment.finished.append(call)

    def leaving(self) -> Iterator[list[Call] | Element]:
        """Takes out what may leave: calls that are done, and the control elements between them."""
        while True:
            segment = self._segments[0]
            calls = self._done(segment)
            for call in calls:
                del self._segment_of[call]
            if calls:
                yield calls
            if segment.waiting or segment.end is None:
                return
            self._segments.popleft()
            yield segment.end

    def _done(self, segment: _Segment) -> list[Call]:
        if not self._ordered:
            done, segment.finished = segment.finished, []
            return done
        done = []
        for call in segment.waiting:
            if not call.done:
                break
            done.append(call)
        for call in done:
            del segment.waiting[call]
        return done

    def calls(self) -> list[Call]:
        return list(self._segment_of)

    # -- what is kept of it ------------------------------------------------------------------------------------

    def content(self) -> list[Any]:
        """The records that wait, as they came, and the control elements between them."""
        content: list[Any] = []
        for segment in self._segments:
            content += [(call.value, call.timestamp) for call in (*segment.finished, *segment.waiting)]
            if segment.end is not None:
                content.append(segment.end)
        return content


def batch_of(calls: list[Call]) -> Batch:
    """The results of calls; each has the timestamp of the record that was asked for."""
    values = [result for call in calls for result in call.results]
    if all(call.timestamp == MIN_TIMESTAMP for call in calls):
        return Batch(values)
    return Batch(values, [call.timestamp for call in calls for _ in call.results])
