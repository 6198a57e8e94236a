"""Watches machines: an alarm when a warm one gets warmer three times in a row, another when its sensor falls silent.

penstock run examples/cep_temperature.py --machines 40 --rounds 200

The second alarm is a match that ran out of time: a warm reading, and nothing after it. The generator knows both kinds.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.cep import CEP, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from penstock.common import Duration, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, FlatMapFunction, OutputTag, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource

READING = Types.TUPLE([Types.LONG(), Types.INT(), Types.LONG()])  # machine, degrees, time
ALARM = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])  # kind, machine, time
SILENT = OutputTag("silent", ALARM)
WARM = 80
ROUND_MS = 120_000


@dataclass(frozen=True)
class Readings:
    """In each round every machine gives some readings, two seconds apart, and then none until the next round."""

    machines: int
    rounds: int

    def story(self, number: int) -> tuple[str, list[int]]:
        return random.Random(number).choice(
            [
                ("rising", [60, 81, 84, 88, 91, 70]),
                ("silent", [60, 70, 85]),
                ("cooling", [60, 85, 88, 70, 65]),
                ("steady", [82, 82, 81, 79]),
                ("cold", [20, 30, 40, 50, 60, 79]),
            ]
        )

    def readings(self, number: int) -> list[tuple[int, int, int]]:
        turn, machine = divmod(number, self.machines)
        start = turn * ROUND_MS + machine
        return [(machine, degrees, start + 2_000 * position) for position, degrees in enumerate(self.story(number)[1])]

    def alarms(self) -> list[tuple[str, int, int]]:
        """What must be found: at the third rise, and half a minute after the last sign of a warm machine."""
        found = []
        for number in range(self.machines * self.rounds):
            kind, readings = self.story(number)[0], self.readings(number)
            if kind == "rising":
                found.append(("rising", readings[4][0], readings[4][2]))
            elif kind == "silent":
                found.append(("silent", readings[-1][0], readings[-1][2] + 30_000))
        return sorted(found)


class ReadSensors(FlatMapFunction):
    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def flat_map(self, value: int) -> Iterator[tuple[int, int, int]]:
        yield from self._readings.readings(value)


def warmer(reading: Any, ctx: Any) -> bool:
    before = ctx.get_events_for_pattern("rising") or ctx.get_events_for_pattern("warm")
    return bool(reading[1] > before[-1][1])


class Alarms(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match: Any, ctx: Any) -> Iterator[Any]:
        yield "rising", match["warm"][0][0], ctx.timestamp()

    def process_timed_out_match(self, match: Any, ctx: Any) -> Iterator[Any]:
        yield SILENT, ("silent", match["warm"][0][0], ctx.timestamp())


class TimeOfReading(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


def alarms(env: StreamExecutionEnvironment, readings: Readings) -> DataStream:
    """The job."""
    numbers = NumberSequenceSource(0, readings.machines * readings.rounds - 1)
    times: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(ROUND_MS))
    stream = (
        env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers")
        .flat_map(ReadSensors(readings), READING)
        .assign_timestamps_and_watermarks(times.with_timestamp_assigner(TimeOfReading()))
        .key_by(lambda reading: reading[0], Types.LONG())
    )
    pattern = (
        Pattern.begin("warm")
        .where(lambda reading: reading[1] >= WARM)
        .next("rising")
        .where(warmer)
        .times(3)
        .consecutive()
        .within(Time.seconds(30))
    )
    found = CEP.pattern(stream, pattern).process(Alarms(), ALARM)
    return found.union(found.get_side_output(SILENT))


def main() -> int:
    parser = argparse.ArgumentParser(description="Watches machines and checks that all alarms were given.")
    parser.add_argument("--machines", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    readings = Readings(options.machines, options.rounds)
    env = StreamExecutionEnvironment.get_execution_environment()
    with alarms(env, readings).execute_and_collect("temperatures") as results:
        found = sorted(results)
    expected = readings.alarms()
    print(f"{'OK' if found == expected else 'WRONG'}: {len(found):,} alarms, {len(expected):,} were due.")
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
