# compare: exact
from pyflink.common import Time, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import (ContinuousEventTimeTrigger, CountTrigger, CountWindow, EventTimeSessionWindows,
                                       GlobalWindow, PurgingTrigger, SlidingEventTimeWindows, TimeWindow,
                                       TumblingEventTimeWindows)


def tried(label, call):
    try:
        result = call()
        print(label, "taken", type(result).__name__)
    except Exception:
        print(label, "refused")


tried("size 0", lambda: TumblingEventTimeWindows.of(Time.seconds(0)))
tried("negative size", lambda: TumblingEventTimeWindows.of(Time.seconds(-1)))
tried("offset as large as the size", lambda: TumblingEventTimeWindows.of(Time.seconds(5), Time.seconds(5)))
tried("negative offset", lambda: TumblingEventTimeWindows.of(Time.seconds(5), Time.seconds(-2)))
tried("slide 0", lambda: SlidingEventTimeWindows.of(Time.seconds(5), Time.seconds(0)))
tried("slide above size", lambda: SlidingEventTimeWindows.of(Time.seconds(5), Time.seconds(7)))
tried("gap 0", lambda: EventTimeSessionWindows.with_gap(Time.seconds(0)))
tried("purging", lambda: PurgingTrigger.of(CountTrigger.of(2)))
tried("continuous", lambda: ContinuousEventTimeTrigger.of(Time.seconds(1)))
a, b = TimeWindow(0, 10), TimeWindow(5, 15)
print(a, a.max_timestamp(), a.intersects(b), a.cover(b), a == TimeWindow(0, 10), hash(a) == hash(TimeWindow(0, 10)), a < b)
print(TimeWindow.get_window_start_with_offset(17, 0, 5), TimeWindow.get_window_start_with_offset(-3, 0, 5),
      TimeWindow.get_window_start_with_offset(17, 3, 5))
print(CountWindow(3), CountWindow(3) == CountWindow(3), CountWindow(3).max_timestamp())
print(GlobalWindow(), GlobalWindow() == GlobalWindow(), GlobalWindow().max_timestamp())
