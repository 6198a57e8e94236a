"""Random streams, and one naive implementation per kind of window: lists of all elements, recomputed each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP


@dataclass(frozen=True)
class Element:
    key: str
    number: int
    timestamp: int


@dataclass(frozen=True)
class Program:
    """A random stream: batches of elements, watermarks, clock readings, and cuts between epochs."""

    steps: tuple[tuple[str, Any], ...]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = 0
    steps: list[tuple[str, Any]] = []
    time = watermark = now = 0
    for _ in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(("batch", "batch", "batch", "watermark", "clock", "cut")))
        if kind == "batch":
            time += draw(st.sampled_from((0, 0, 3, 11, 60)))  # 60: an idle phase
            batch = []
            for _ in range(draw(st.integers(1, 7))):
                offset = draw(st.sampled_from((0, 0, 1, 2, 5, 9, -1, -4, -13, -30)))
                batch.append(Element(draw(st.sampled_from("abc")), count, time + offset))
                count += 1
            steps.append((kind, batch))
        elif kind == "watermark":
            watermark = max(watermark, time - draw(st.integers(0, 25)))
            steps.append((kind, watermark))
        elif kind == "clock":
            now += draw(st.sampled_from((1, 4, 10, 35)))
            steps.append((kind, now))
        else:
            steps.append((kind, draw(st.booleans())))
    return Program(tuple(steps))


class Oracle:
    """Replays a program element by element; subclasses say what windows hold and when they fire."""

    def __init__(self, allowed_lateness: int = 0) -> None:
        self.lateness = allowed_lateness
        self.watermark = MIN_TIMESTAMP
        self.now = 0
        self.results: list[Any] = []
        self.late: list[int] = []

    def run(self, program: Program) -> tuple[list[Any], list[int]]:
        for kind, content in program.steps:
            if kind == "batch":
                for element in content:
                    self.element(element)
            elif kind == "watermark":
                self.advance(content)
            elif kind == "clock":
                self.clock(content)
        self.advance(MAX_TIMESTAMP)
        return self.results, self.late

    def advance(self, watermark: int) -> None:
        if watermark > self.watermark:
            old, self.watermark = self.watermark, watermark
            self.on_watermark(old, watermark)

    def clock(self, now: int) -> None:
        old, self.now = self.now, now
        self.on_clock(old, now)

    def element(self, element: Element) -> None:
        raise NotImplementedError

    def on_watermark(self, old: int, new: int) -> None: ...

    def on_clock(self, old: int, new: int) -> None: ...


def windows_of(time: int, size: int, slide: int, offset: int, cumulative: bool = False) -> list[tuple[int, int]]:
    if cumulative:
        [(start, end)] = windows_of(time, size, size, offset)
        return [(start, e) for e in range(time + 1, end + 1) if (e - start) % slide == 0]
    return [(s, s + size) for s in range(time - size + 1, time + 1) if (s - offset) % slide == 0]


Shape = tuple[int, int, int] | tuple[int, int, int, bool]  # size, slide or step, offset, whether they are cumulative


class AlignedOracle(Oracle):
    """Tumbling, sliding and cumulative windows in event time."""

    def __init__(self, shape: Shape, allowed_lateness: int, purging: bool = False) -> None:
        super().__init__(allowed_lateness)
        self.shape = shape
        self.purging = purging
        self.held: list[tuple[str, tuple[int, int], int]] = []

    def emit(self, key: str, window: tuple[int, int], timestamp: int) -> None:
        contents = tuple(number for k, w, number in self.held if (k, w) == (key, window))
        if contents:
            self.results.append(((key, window, contents), timestamp))
        if self.purging:
            self.held = [entry for entry in self.held if entry[:2] != (key, window)]

    def element(self, element: Element) -> None:
        alive = [
            window
            for window in windows_of(element.timestamp, *self.shape)
            if window[1] - 1 + self.lateness > self.watermark
        ]
        for window in alive:
            self.held.append((element.key, window, element.number))
            if window[1] - 1 <= self.watermark:
                self.emit(element.key, window, element.timestamp)
        if not alive and element.timestamp + self.lateness <= self.watermark:
            self.late.append(element.number)

    def on_watermark(self, old: int, new: int) -> None:
        for key, window in sorted({entry[:2] for entry in self.held}, key=lambda kw: (kw[1][1], kw[0])):
            if old < window[1] - 1 <= new:
                self.emit(key, window, window[1] - 1)


class SessionOracle(Oracle):
    """Sessions: the touching intervals of a key's elements, found anew each time."""

    def __init__(self, gap: Callable[[Element], int], allowed_lateness: int) -> None:
        super().__init__(allowed_lateness)
        self.gap = gap
        self.alive: list[Element] = []

    def sessions(self, elements: list[Element]) -> list[tuple[int, int, list[Element]]]:
        found: list[tuple[int, int, list[Element]]] = []
        for element in sorted(elements, key=lambda e: e.timestamp):
            start, end = element.timestamp, element.timestamp + self.gap(element)
            if found and found[-1][1] >= start:
                first, last, members = found.pop()
                start, end, members = first, max(last, end), [*members, element]
            else:
                members = [element]
            found.append((start, end, members))
        return found

    def of_key(self, key: str) -> list[tuple[int, int, list[Element]]]:
        return self.sessions([element for element in self.alive if element.key == key])

    def emit(self, session: tuple[int, int, list[Element]], timestamp: int) -> None:
        start, end, members = session
        numbers = tuple(sorted(element.number for element in members))
        self.results.append(((members[0].key, (start, end), numbers), timestamp))

    def element(self, element: Element) -> None:
        self.alive.append(element)
        session = next(s for s in self.of_key(element.key) if element in s[2])
        if session[1] - 1 + self.lateness <= self.watermark:
            self.alive.remove(element)
            if element.timestamp + self.lateness <= self.watermark:
                self.late.append(element.number)
        elif session[1] - 1 <= self.watermark:
            self.emit(session, element.timestamp)

    def on_watermark(self, old: int, new: int) -> None:
        for key in "abc":
            for session in self.of_key(key):
                if old < session[1] - 1 <= new:
                    self.emit(session, session[1] - 1)
                if session[1] - 1 + self.lateness <= new:
                    self.alive = [element for element in self.alive if element not in session[2]]


class CountOracle(Oracle):
    """A count trigger, on one window that holds everything or on tumbling event-time windows."""

    def __init__(self, count: int, size: int | None, purging: bool, keep: int | None = None) -> None:
        super().__init__()
        self.count, self.size, self.purging, self.keep = count, size, purging, keep
        self.all: dict[Any, list[int]] = {}

    def element(self, element: Element) -> None:
        window = None
        if self.size is not None:
            window = windows_of(element.timestamp, self.size, self.size, 0)[0]
            if window[1] - 1 <= self.watermark:
                self.late.append(element.number)
                return
        held = self.all.setdefault((element.key, window), [])
        held.append(element.number)
        if len(held) % self.count == 0:
            contents = held[-self.count :] if self.purging else held
            contents = contents if self.keep is None else contents[-self.keep :]
            self.results.append(((element.key, window, tuple(contents)), element.timestamp))


class CountWindowOracle(Oracle):
    """Windows of a number of elements: fired when full, and only then."""

    def __init__(self, size: int, slide: int) -> None:
        super().__init__()
        self.size, self.slide = size, slide
        self.seen: dict[str, list[int]] = {}

    def element(self, element: Element) -> None:
        seen = self.seen.setdefault(element.key, [])
        seen.append(element.number)
        first = len(seen) - self.size
        if first >= 0 and first % self.slide == 0:
            window = first // self.slide
            self.results.append(((element.key, window, tuple(seen[first:])), element.timestamp))


class ProcessingTimeOracle(Oracle):
    """Tumbling and sliding windows by the clock; what is open at the end is lost."""

    def __init__(self, size: int, slide: int) -> None:
        super().__init__()
        self.size, self.slide = size, slide
        self.held: list[tuple[str, tuple[int, int], int]] = []

    def element(self, element: Element) -> None:
        for window in windows_of(self.now, self.size, self.slide, 0):
            self.held.append((element.key, window, element.number))

    def on_clock(self, old: int, new: int) -> None:
        for key, window in sorted({entry[:2] for entry in self.held}):
            if old < window[1] <= new:
                contents = tuple(number for k, w, number in self.held if (k, w) == (key, window))
                self.results.append(((key, window, contents), window[1] - 1))


class ContinuousOracle(Oracle):
    """Tumbling event-time windows that also fire at every interval of event time."""

    def __init__(self, size: int, interval: int, purging: bool) -> None:
        super().__init__()
        self.size, self.interval, self.purging = size, interval, purging
        self.held: dict[tuple[str, tuple[int, int]], list[int]] = {}
        self.next: dict[tuple[str, tuple[int, int]], int] = {}

    def element(self, element: Element) -> None:
        window = windows_of(element.timestamp, self.size, self.size, 0)[0]
        if window[1] - 1 <= self.watermark:
            self.late.append(element.number)
            return
        place = (element.key, window)
        self.held.setdefault(place, []).append(element.number)
        if place not in self.next:
            rounded = element.timestamp // self.interval * self.interval
            self.next[place] = min(rounded + self.interval, window[1] - 1)

    def on_watermark(self, old: int, new: int) -> None:
        for place in sorted(self.next):
            last = place[1][1] - 1
            while self.next[place] <= new and self.next[place] < last:
                self.emit(place, self.next[place])
                if last <= new:
                    break  # interval and end are due together: the timers that the first one sets come too late
                self.next[place] = min(self.next[place] + self.interval, last)
            if last <= new:
                self.emit(place, last)
                del self.next[place]
                self.held.pop(place, None)

    def emit(self, place: tuple[str, tuple[int, int]], timestamp: int) -> None:
        if self.held.get(place):
            self.results.append(((*place, tuple(self.held[place])), timestamp))
            if self.purging:
                self.held[place] = []


class ContinuousClockOracle(Oracle):
    """Everything of a key, again at every interval of the clock since its first element."""

    def __init__(self, interval: int) -> None:
        super().__init__()
        self.interval = interval
        self.held: dict[str, list[int]] = {}
        self.next: dict[str, int] = {}

    def element(self, element: Element) -> None:
        self.held.setdefault(element.key, []).append(element.number)
        self.next.setdefault(element.key, self.now // self.interval * self.interval + self.interval)

    def on_clock(self, old: int, new: int) -> None:
        for key, contents in self.held.items():
            while self.next[key] < new:
                self.results.append(((key, None, tuple(contents)), self.next[key]))
                self.next[key] += self.interval


class DeltaOracle(Oracle):
    """Everything of a key, when an element is further than a threshold from the one that fired last."""

    def __init__(self, threshold: int, purging: bool) -> None:
        super().__init__()
        self.threshold, self.purging = threshold, purging
        self.seen: dict[str, list[Element]] = {}

    def element(self, element: Element) -> None:
        seen = self.seen.setdefault(element.key, [])
        seen.append(element)
        fired, last = [0], seen[0]  # found anew each time: the places behind which the window was evaluated
        for place, other in enumerate(seen):
            if abs(other.timestamp - last.timestamp) > self.threshold:
                fired.append(place + 1)
                last = other
        if fired[-1] == len(seen):
            contents = seen[fired[-2] :] if self.purging else seen
            self.results.append(((element.key, None, tuple(e.number for e in contents)), element.timestamp))
