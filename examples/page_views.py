"""Counts page views per app in keyed state, and checks the totals against what the log's generator knows.

penstock run examples/page_views.py --views 1000000 --apps 12
"""

from __future__ import annotations

import argparse
import datetime
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import (
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.state import ValueStateDescriptor

BROKEN_LINES = OutputTag("broken-lines", Types.STRING())
END_OF_INPUT = 2**63 - 1  # the watermark behind the last record of a bounded stream
BROKEN = "broken lines"  # counted as if they were an app
FIRST, UPDATE, TOTAL = "first", "update", "total"
VIEW = Types.TUPLE([Types.STRING(), Types.STRING()])  # app, page
RESULT = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()])  # first, update or total; app; views


class AccessLog:
    """A log of any length: line n is the same whoever asks for it, so it can be read in parallel and read again."""

    PAGES = ("/home", "/search", "/product", "/cart", "/checkout", "/help")
    START = datetime.datetime(2026, 11, 15, 10, 0, 0)
    VIEWS_PER_SECOND = 1000

    def __init__(self, views: int, apps: int, seed: int = 20261115) -> None:
        chance = random.Random(seed)
        names = [f"app-{number:02d}" for number in range(apps)]
        popularity = [1 / (rank + 2) for rank in range(apps)]
        self._views = views
        self._apps: list[str | None] = [*chance.choices(names, popularity, k=4995), *[None] * 4]  # None: a broken line
        chance.shuffle(self._apps)
        self._endings = [self._ending(app, chance) for app in self._apps]

    def _ending(self, app: str | None, chance: random.Random) -> str:
        if app is None:
            return chance.choice(["", "\x00\x00\x00", "connection reset by peer"])
        return (
            f"{app} {chance.choice(self.PAGES)} {chance.choice([200, 200, 200, 304, 404])} {chance.randrange(3000)}ms"
        )

    def line(self, number: int) -> str:
        moment = self.START + datetime.timedelta(seconds=number // self.VIEWS_PER_SECOND)
        return f"{moment.isoformat()}Z {self._endings[number % len(self._endings)]}"

    def totals(self) -> dict[str, int]:
        """Views per app, and broken lines: known from how the log is made, without reading it."""
        rounds, rest = divmod(self._views, len(self._apps))
        totals = Counter({app: count * rounds for app, count in Counter(self._apps).items()})
        totals.update(self._apps[:rest])
        return {app or BROKEN: views for app, views in totals.items() if views}


class ReadLog(MapFunction):
    """Turns the numbers of the embedded source into lines of the log."""

    def __init__(self, log: AccessLog) -> None:
        self._log = log

    def map(self, value: int) -> str:
        return self._log.line(value)


class ParseLine(ProcessFunction):
    """(app, page) of each line; what is no log line leaves by the side door."""

    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[object]:
        fields = value.split(" ")
        if len(fields) == 5 and fields[1].startswith("app-"):
            yield fields[1], fields[2]
        else:
            yield BROKEN_LINES, value


class CountViews(KeyedProcessFunction):
    """One number per app in keyed state: told now and then while it grows, and once more when the log ends."""

    def __init__(self, report_every: int) -> None:
        self._report_every = report_every

    def open(self, runtime_context: RuntimeContext) -> None:
        self._views = runtime_context.get_state(ValueStateDescriptor("views", Types.LONG()))

    def process_element(
        self, value: tuple[str, str], ctx: KeyedProcessFunction.Context
    ) -> Iterator[tuple[str, str, int]]:
        views = self._views.value()
        if views is None:
            views = 0
            ctx.timer_service().register_event_time_timer(END_OF_INPUT)
            yield FIRST, ctx.get_current_key(), 1
        views += 1
        self._views.update(views)
        if views % self._report_every == 0:
            yield UPDATE, ctx.get_current_key(), views

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[tuple[str, str, int]]:
        yield TOTAL, ctx.get_current_key(), self._views.value()


def main() -> int:
    options = read_options()
    log = AccessLog(options.views, options.apps)
    report_every = max(1, options.views // 30)
    explain(options, log)

    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = NumberSequenceSource(0, options.views - 1)
    views = (
        env.from_source(numbers, WatermarkStrategy.no_watermarks(), "access log")
        .map(ReadLog(log), output_type=Types.STRING())
        .process(ParseLine(), output_type=VIEW)
        .name("parse")
    )
    broken = views.get_side_output(BROKEN_LINES).map(lambda line: (BROKEN, line), output_type=VIEW)
    counts = (
        views.union(broken)
        .key_by(lambda view: view[0], key_type=Types.STRING())
        .process(CountViews(report_every), output_type=RESULT)
        .name("count views")
    )

    print("Starting Spark ...", flush=True)
    before = time.monotonic()
    with counts.execute_and_collect("page views") as results:
        started = time.monotonic()
        print(f"... {started - before:.0f} s. Counting; the job reports as the counts grow:\n", flush=True)
        totals, from_the_start = follow(results, started)
    seconds = time.monotonic() - started

    if from_the_start:
        print(f"\n{options.views:,} lines in {seconds:.1f} s, {options.views / seconds:,.0f} a second,", end=" ")
        print("with the start of the workers in it: a longer log shows a higher rate.\n")
    else:
        print(f"\nThe rest of the log in {seconds:.1f} s: this run went on where an earlier one had stopped.\n")
    right = compare(log, totals)
    suggest()
    return 0 if right else 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Counts page views per app in keyed state.")
    parser.add_argument("--views", type=positive, default=1_000_000, metavar="N", help="lines in the log")
    parser.add_argument("--apps", type=positive, default=8, metavar="N", help="apps that are viewed")
    return parser.parse_args()


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def explain(options: argparse.Namespace, log: AccessLog) -> None:
    print(f"Page views per app: a log of {options.views:,} lines, {options.apps} apps. Its first line:\n")
    print(f"    {log.line(0)}\n")
    print("The job reads it in parallel, parses it (broken lines leave by a side output), sends each view to the task")
    print("that owns its app, and counts there in keyed state. Every epoch saves the state together with the place in")
    print("the log, so that a task that has to run again counts nothing twice. The generator knows the true totals.\n")


def follow(results: Iterator[tuple[str, str, int]], started: float) -> tuple[dict[str, int], bool]:
    """Shows the results as they arrive; returns the totals, and whether this run has seen all of the log."""
    totals: dict[str, int] = {}
    seen_from_the_start = set()
    for what, app, views in results:
        if what == TOTAL:
            totals[app] = views
        elif what == FIRST:
            seen_from_the_start.add(app)
        else:
            print(f"  {time.monotonic() - started:6.1f} s   {app} has {views:>11,} views", flush=True)
    return totals, seen_from_the_start == set(totals)


def compare(log: AccessLog, totals: dict[str, int]) -> bool:
    """The job's totals beside the generator's."""
    expected = log.totals()
    rows = [(app, totals.get(app, 0), expected.get(app, 0)) for app in sorted(expected.keys() | totals.keys())]
    wrong = [row for row in rows if row[1] != row[2]]
    print(f"  {'':<12} {'the job':>13} {'the generator':>15}")
    for app, counted, true in [*wrong, *(row for row in rows if row not in wrong)][:20]:
        print(f"  {app:<12} {counted:>13,} {true:>15,}{'' if counted == true else '   differs'}")
    if len(rows) > 20:
        print(f"  ... and {len(rows) - 20} more")
    print(f"\nWRONG: {len(wrong)} totals differ." if wrong else "\nOK: every total is exact.")
    return not wrong


def suggest() -> None:
    print("\nNext, try:\n")
    print("    .venv/bin/penstock run examples/page_views.py --views 5000000 --apps 1000")
    print("    .venv/bin/penstock run --pyflink examples/pyflink_word_count.py")
    print("    .venv/bin/penstock run -p 4 -D penstock.epoch.target-ms=300 examples/page_views.py")


if __name__ == "__main__":
    sys.exit(main())
