"""Windows as intervals: arithmetic, order, equality, serialized form."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from io import BytesIO

import pytest

from penstock.datastream.window import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    TimeWindow,
    TimeWindowSerializer,
    TriggerResult,
)


class RecordedMerges(MergingWindowAssigner.MergeCallback[TimeWindow]):
    def __init__(self) -> None:
        self.merges: list[tuple[set[TimeWindow], TimeWindow]] = []

    def merge(self, to_be_merged: Iterable[TimeWindow], merge_result: TimeWindow) -> None:
        self.merges.append((set(to_be_merged), merge_result))


@pytest.mark.parametrize(
    ("timestamp", "offset", "start"),
    [(-1, 0, -10), (-10, 0, -10), (5, 0, 0), (10, 0, 10), (5, 3, 3), (2, 3, -7), (-15, 3, -17), (7, -2, -2)],
)
def test_start_of_the_window_of_a_timestamp(timestamp: int, offset: int, start: int) -> None:
    assert TimeWindow.get_window_start_with_offset(timestamp, offset, 10) == start


def test_a_time_window_excludes_its_end() -> None:
    assert TimeWindow(0, 10).max_timestamp() == 9


def test_windows_that_only_touch_intersect() -> None:
    assert TimeWindow(0, 10).intersects(TimeWindow(10, 20))
    assert not TimeWindow(0, 10).intersects(TimeWindow(11, 20))


def test_cover_is_the_smallest_window_around_both() -> None:
    assert TimeWindow(5, 8).cover(TimeWindow(1, 6)) == TimeWindow(1, 8)


def test_windows_sort_by_start_then_end() -> None:
    windows = [TimeWindow(3, 4), TimeWindow(1, 9), TimeWindow(1, 2)]
    assert sorted(windows) == [TimeWindow(1, 2), TimeWindow(1, 9), TimeWindow(3, 4)]
    assert TimeWindow(1, 2) > TimeWindow(0, 5)
    with pytest.raises(TypeError, match="only be compared"):
        _ = TimeWindow(1, 2) < 3  # type: ignore[operator]


def test_equal_windows_are_one_dictionary_key_also_after_pickling() -> None:
    for window in (TimeWindow(1, 2), CountWindow(7), GlobalWindow()):
        copy = pickle.loads(pickle.dumps(window))
        assert copy == window
        assert len({window, copy}) == 1
    assert TimeWindow(1, 2) != TimeWindow(1, 3)
    assert CountWindow(0) != GlobalWindow()
    assert GlobalWindow.get() == GlobalWindow()


def test_count_and_global_windows_never_end() -> None:
    assert CountWindow(1).max_timestamp() == GlobalWindow().max_timestamp() == 2**63 - 1


def test_windows_are_written_as_in_pyflink() -> None:
    assert [repr(w) for w in (TimeWindow(-5, 10), CountWindow(7), GlobalWindow())] == [
        "TimeWindow(start=-5, end=10)",
        "CountWindow(id=7)",
        "GlobalWindow",
    ]


def test_serialized_windows_follow_each_other_in_a_stream() -> None:
    stream = BytesIO()
    TimeWindowSerializer().serialize(TimeWindow(-5, 10), stream)
    GlobalWindowSerializer().serialize(GlobalWindow(), stream)
    CountWindowSerializer().serialize(CountWindow(7), stream)
    assert stream.getvalue().hex() == "fffffffffffffffb000000000000000a000000000000000007"
    stream.seek(0)
    assert TimeWindowSerializer().deserialize(stream) == TimeWindow(-5, 10)
    assert GlobalWindowSerializer().deserialize(stream) == GlobalWindow()
    assert CountWindowSerializer().deserialize(stream) == CountWindow(7)


def test_merge_groups_all_windows_that_touch() -> None:
    callback = RecordedMerges()
    a, b, c, alone, d, e = (
        TimeWindow(0, 10), TimeWindow(10, 20), TimeWindow(15, 30), TimeWindow(31, 40), TimeWindow(50, 60),
        TimeWindow(50, 70),
    )  # fmt: skip
    TimeWindow.merge_windows([e, c, alone, a, d, b], callback)
    assert callback.merges == [({a, b, c}, TimeWindow(0, 30)), ({d, e}, TimeWindow(50, 70))]


def test_nothing_merges_without_contact_or_among_duplicates() -> None:
    callback = RecordedMerges()
    TimeWindow.merge_windows([TimeWindow(0, 5), TimeWindow(0, 5), TimeWindow(6, 9)], callback)
    TimeWindow.merge_windows([], callback)
    assert callback.merges == []


def test_trigger_results() -> None:
    assert {r.name: (r.is_fire(), r.is_purge()) for r in TriggerResult} == {
        "CONTINUE": (False, False),
        "FIRE": (True, False),
        "PURGE": (False, True),
        "FIRE_AND_PURGE": (True, True),
    }
