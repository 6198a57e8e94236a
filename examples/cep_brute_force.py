"""Finds logins that were forced by trying passwords, with rules that change while the job runs.

penstock run examples/cep_brute_force.py --users 20 --rounds 300

The rules come over a stream of their own, which all subtasks get: three failures before a login are an alarm at first,
five from the middle of the time on. The generator knows which logins are alarms under the rule of their time.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.cep import CEP, Pattern, PatternProcessFunction, PatternUpdate
from penstock.common import Duration, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, FlatMapFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource

ATTEMPT = Types.TUPLE([Types.LONG(), Types.BOOLEAN(), Types.LONG()])  # user, succeeded, time
ALARM = Types.TUPLE([Types.LONG(), Types.LONG(), Types.INT()])  # user, time, version of the rule
ROUND_MS = 120_000


@dataclass(frozen=True)
class Attempts:
    """In each round every user fails a few times and then gets in."""

    users: int
    rounds: int

    def failures(self, number: int) -> int:
        return random.Random(number).randrange(8)

    def attempts(self, number: int) -> list[tuple[int, bool, int]]:
        """All attempts of one user in one round."""
        turn, user = divmod(number, self.users)
        start, failures = turn * ROUND_MS + user, self.failures(number)
        failed = [(user, False, start + 5_000 * position) for position in range(failures)]
        return [*failed, (user, True, start + 5_000 * failures)]

    @property
    def stricter_until(self) -> int:
        """From this time on five failures are needed."""
        return self.rounds // 2 * ROUND_MS

    def alarms(self) -> list[tuple[int, int, int]]:
        """What must be found."""
        found = []
        for number in range(self.users * self.rounds):
            user, _, time = self.attempts(number)[-1]
            needed, version = (3, 1) if time < self.stricter_until else (5, 2)
            if self.failures(number) >= needed:
                found.append((user, time, version))
        return sorted(found)


class ReadAttempts(FlatMapFunction):
    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts

    def flat_map(self, value: int) -> Iterator[tuple[int, bool, int]]:
        yield from self._attempts.attempts(value)


def rule(failures: int) -> Pattern:
    return (
        Pattern.begin("failed")
        .where(lambda attempt: not attempt[1])
        .times(failures)
        .consecutive()
        .next("in")
        .where(lambda attempt: attempt[1])
        .within(Time.minutes(1))
    )


class Alarm(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Iterator[tuple[int, int, int]]:
        user, _, time = match["in"][0]
        yield user, time, ctx.pattern_version()


class TimeOfAttempt(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


class TimeOfRule(TimestampAssigner):
    def extract_timestamp(self, value: tuple[int, PatternUpdate], record_timestamp: int) -> int:
        return value[0]


def alarms(env: StreamExecutionEnvironment, attempts: Attempts) -> DataStream:
    """The job. A rule counts for the attempts after its own time, however late it is read."""
    rules = [
        (0, CEP.pattern_update("brute force", 1, rule(3))),
        (attempts.stricter_until, CEP.pattern_update("brute force", 2, rule(5))),
    ]
    updates = (
        env.from_collection(rules)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(TimeOfRule())
        )
        .map(lambda timed: timed[1])
    )
    times: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(ROUND_MS))
    numbers = NumberSequenceSource(0, attempts.users * attempts.rounds - 1)
    stream = (
        env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers")
        .flat_map(ReadAttempts(attempts), ATTEMPT)
        .assign_timestamps_and_watermarks(times.with_timestamp_assigner(TimeOfAttempt()))
        .key_by(lambda attempt: attempt[0], Types.LONG())
    )
    return CEP.pattern(stream, updates.broadcast()).process(Alarm(), ALARM)


def main() -> int:
    parser = argparse.ArgumentParser(description="Finds forced logins and checks that all were found.")
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    attempts = Attempts(options.users, options.rounds)
    env = StreamExecutionEnvironment.get_execution_environment()
    with alarms(env, attempts).execute_and_collect("brute force") as results:
        found = sorted(results)
    expected = attempts.alarms()
    print(f"{'OK' if found == expected else 'WRONG'}: {len(found):,} alarms, {len(expected):,} were due.")
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
