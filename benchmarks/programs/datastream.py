"""The DataStream programs of all cases: this one file runs on PyFlink as it is, and on Penstock with `--pyflink`.

python datastream.py CASE INPUT OUTPUT      (BENCH_CONFIGURATION: options as JSON, BENCH_SETTINGS: numbers as JSON)
"""

import hashlib
import json
import os
import sys
from operator import itemgetter

from pyflink.common import Configuration, Duration, Encoder, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)
from pyflink.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
TRIPLE = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
# A type of its own: PyFlink cannot pickle one that it has used for a stream before.
ACCUMULATOR = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
BASE = 1 << 32  # the built-in sum counts above this and adds below


class RunningCount(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value[0]},{count}"


class CountAndPass(KeyedProcessFunction):
    def __init__(self, groups):
        self.groups = groups

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield value[0] % self.groups, value[1], value[2]


class KeepText(KeyedProcessFunction):
    """A value of 100 bytes per key; tells how often the key has been written, and the record's own mark."""

    def open(self, runtime_context):
        self.text = runtime_context.get_state(ValueStateDescriptor("text", Types.STRING()))

    def process_element(self, value, ctx):
        before = self.text.value()
        version = int(before[:10]) + 1 if before else 1
        # Text that does not shrink when it is compressed, as real values do not.
        filling = hashlib.blake2b(b"%d %d" % (value[0], version), digest_size=45).hexdigest()
        self.text.update(f"{version:010d}{filling}")
        yield f"{value[0]},{version},{value[1]}"


class CountAndSum(AggregateFunction):
    mergeable = True  # tells Penstock that sliding windows may share slices; nothing to PyFlink

    def create_accumulator(self):
        return 0, 0, 0

    def add(self, value, accumulator):
        return value[0], accumulator[1] + 1, accumulator[2] + value[2]

    def get_result(self, accumulator):
        return f"{accumulator[0]},{accumulator[1]},{accumulator[2]}"

    def merge(self, acc_a, acc_b):
        return max(acc_a[0], acc_b[0]), acc_a[1] + acc_b[1], acc_a[2] + acc_b[2]


class CountAndSumOfSession(CountAndSum):
    """The result is the accumulator: PyFlink's thread mode hands results, not accumulators, to merge()."""

    def get_result(self, accumulator):
        return accumulator


class SumPerGroup(AggregateFunction):
    def create_accumulator(self):
        return 0, 0, 0

    def add(self, value, accumulator):
        return value[0], 1, accumulator[2] + value[2]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return max(acc_a[0], acc_b[0]), 1, acc_a[2] + acc_b[2]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def change(line):
    record = json.loads(line)
    record["price"] *= 2
    return json.dumps(record, separators=(",", ":"))


def pair(line):
    first, second = line.split(",")
    return int(first), int(second)


def triple(line):
    first, second, third = line.split(",")
    return int(first), int(second), int(third)


def based_triple(line):
    first, second, third = line.split(",")
    return int(first), int(second), int(third) + BASE


def with_event_time(stream, numbers):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(numbers["disorder_ms"]))
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))


def windowed(lines, numbers, windows):
    events = with_event_time(lines.map(triple, TRIPLE), numbers)
    keyed = events.key_by(lambda event: event[0], Types.LONG())
    return keyed.window(windows).aggregate(CountAndSum(), accumulator_type=ACCUMULATOR, output_type=Types.STRING())


def windowed_builtin(lines, numbers, windows):
    events = with_event_time(lines.map(based_triple, TRIPLE), numbers)
    sums = events.key_by(lambda event: event[0], Types.LONG()).window(windows).sum(2)
    return sums.map(lambda row: f"{row[0]},{row[2] // BASE},{row[2] % BASE}", Types.STRING())


def udf_map(lines, numbers):
    return lines.map(change, Types.STRING())


def keyed_count(lines, numbers):
    keyed = lines.map(pair, PAIR).key_by(lambda record: record[0], Types.LONG())
    return keyed.process(RunningCount(), Types.STRING())


def keyed_count_builtin(rows, numbers):
    return rows.key_by(itemgetter(0), Types.LONG()).sum(1)  # the second field of every record is 1


def tumble(lines, numbers):
    return windowed(lines, numbers, TumblingEventTimeWindows.of(Time.seconds(1)))


def slide(lines, numbers):
    return windowed(lines, numbers, SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(1)))


def session(lines, numbers):
    return (
        with_event_time(lines.map(triple, TRIPLE), numbers)
        .key_by(lambda event: event[0], Types.LONG())
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(numbers["gap_ms"])))
        .aggregate(CountAndSumOfSession(), accumulator_type=ACCUMULATOR, output_type=TRIPLE)
        .map(lambda row: f"{row[0]},{row[1]},{row[2]}", Types.STRING())
    )


def tumble_builtin(lines, numbers):
    return windowed_builtin(lines, numbers, TumblingEventTimeWindows.of(Time.seconds(1)))


def slide_builtin(lines, numbers):
    return windowed_builtin(lines, numbers, SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(1)))


def session_builtin(lines, numbers):
    return windowed_builtin(lines, numbers, EventTimeSessionWindows.with_gap(Time.milliseconds(numbers["gap_ms"])))


def three_hops(lines, numbers):
    regions = numbers["hop_regions"]
    return (
        with_event_time(lines.map(triple, TRIPLE), numbers)
        .key_by(lambda event: event[0], Types.LONG())
        .process(CountAndPass(numbers["hop_groups"]), TRIPLE)
        .key_by(lambda event: event[0], Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .aggregate(SumPerGroup(), accumulator_type=ACCUMULATOR, output_type=TRIPLE)
        .key_by(lambda row: row[0] % regions, Types.LONG())
        .reduce(lambda a, b: (a[0] % regions, a[1] + b[1], a[2] + b[2]))
        .map(lambda row: f"{row[0] % regions},{row[1]},{row[2]}", Types.STRING())
    )


def cep(lines, numbers):
    from penstock.cep import CEP, Pattern  # PyFlink has none

    small, large = numbers["cep_small"], numbers["cep_large"]
    pattern = (
        Pattern.begin("small")
        .where(lambda event: event[2] < small)
        .next("large")
        .where(lambda event: event[2] > large)
        .within(Time.milliseconds(numbers["cep_within_ms"]))
    )
    events = with_event_time(lines.map(triple, TRIPLE), numbers).key_by(lambda event: event[0], Types.LONG())
    return CEP.pattern(events, pattern).select(
        lambda match: f"{match['small'][0][0]},{match['small'][0][2]},{match['large'][0][2]}", Types.STRING()
    )


def big_state(lines, numbers):
    keyed = lines.map(pair, PAIR).key_by(lambda record: record[0], Types.LONG())
    return keyed.process(KeepText(), Types.STRING())


CASES = {
    "udf_map": udf_map,
    "keyed_count": keyed_count,
    "keyed_count_skew": keyed_count,
    "keyed_count_builtin": keyed_count_builtin,
    "tumble": tumble,
    "slide": slide,
    "session": session,
    "tumble_builtin": tumble_builtin,
    "slide_builtin": slide_builtin,
    "session_builtin": session_builtin,
    "three_hops": three_hops,
    "cep": cep,
    "big_state": big_state,
    "recovery": big_state,
    "latency": big_state,
}
UNBOUNDED = ("big_state", "recovery", "latency")
TYPED = ("keyed_count_builtin",)  # read and written as rows of a CSV schema, not as lines of text


def main(case, source_path, sink_path):
    numbers = json.loads(os.environ["BENCH_SETTINGS"])
    configuration = Configuration()
    for key, value in json.loads(os.environ["BENCH_CONFIGURATION"]).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(numbers["parallelism"])
    schema = CsvSchema.builder().add_number_column("k").add_number_column("n").build() if case in TYPED else None
    form = StreamFormat.text_line_format() if schema is None else CsvReaderFormat.for_schema(schema)
    files = FileSource.for_record_stream_format(form, source_path)
    if case in UNBOUNDED:
        files = files.monitor_continuously(Duration.of_millis(numbers["discovery_ms"]))
    lines = env.from_source(files.build(), WatermarkStrategy.no_watermarks(), "lines")
    if schema is None:
        sink = FileSink.for_row_format(sink_path, Encoder.simple_string_encoder())
    else:
        sink = FileSink.for_bulk_format(sink_path, CsvBulkWriters.for_schema(schema))
    sink = (
        sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .build()
    )
    CASES[case](lines, numbers).sink_to(sink)
    env.execute(case)


if __name__ == "__main__":
    main(*sys.argv[1:])
