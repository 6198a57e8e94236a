"""Finds cards that were tried with a small charge and then emptied with a large one within a minute.

penstock run examples/cep_fraud.py --cards 50 --rounds 200

The generator plants such frauds, and things that look like them: a large charge that comes too late, and one with
another charge in between. It knows which charges must be found, and the program compares.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass
from typing import Any

from penstock.cep import CEP, Pattern
from penstock.common import Duration, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, MapFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource

CHARGE = Types.TUPLE([Types.LONG(), Types.DOUBLE(), Types.LONG()])  # card, amount, time
ALERT = Types.TUPLE([Types.LONG(), Types.LONG(), Types.DOUBLE()])  # card, time of the large charge, its amount
SMALL, LARGE = 1.0, 500.0
ROUND_MS = 300_000  # three charges of each card


@dataclass(frozen=True)
class Charges:
    """Charge n is the same whoever asks for it; each round of a card tells one small story."""

    cards: int
    rounds: int

    def charge(self, number: int) -> tuple[int, float, int]:
        turn, card, position = number // (3 * self.cards), number // 3 % self.cards, number % 3
        amount, seconds = self._story(turn, card)[position]
        return card, amount, turn * ROUND_MS + seconds * 1000 + card

    def _story(self, turn: int, card: int) -> list[tuple[float, int]]:
        chance = random.Random(turn * self.cards + card)
        usual, small, large = (
            round(chance.uniform(low, high), 2) for low, high in ((10, 300), (0.1, 0.9), (501, 2000))
        )
        stories = {
            "fraud": [(small, 0), (large, 20), (usual, 150)],
            "too late": [(small, 0), (large, 60), (usual, 150)],
            "something in between": [(small, 0), (usual, 20), (large, 40)],
            "nothing": [(usual, 0), (usual, 20), (usual, 150)],
        }
        return stories[chance.choice(list(stories))]

    def frauds(self) -> list[tuple[int, int, float]]:
        """What must be found."""
        found = []
        for turn in range(self.rounds):
            for card in range(self.cards):
                (small, _), (large, seconds), _ = self._story(turn, card)
                if small < SMALL and large > LARGE and seconds < 60:
                    found.append((card, turn * ROUND_MS + seconds * 1000 + card, large))
        return sorted(found)


class ReadCharges(MapFunction):
    def __init__(self, charges: Charges) -> None:
        self._charges = charges

    def map(self, value: int) -> tuple[int, float, int]:
        return self._charges.charge(value)


class TimeOfCharge(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


def alerts(env: StreamExecutionEnvironment, charges: Charges) -> DataStream:
    """The job: one alert for each fraud."""
    last = charges.cards * charges.rounds * 3 - 1
    times: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(ROUND_MS))
    stream = (
        env.from_source(NumberSequenceSource(0, last), WatermarkStrategy.no_watermarks(), "numbers")
        .map(ReadCharges(charges), CHARGE)
        .assign_timestamps_and_watermarks(times.with_timestamp_assigner(TimeOfCharge()))
        .key_by(lambda charge: charge[0], Types.LONG())
    )
    pattern = (
        Pattern.begin("small")
        .where(lambda charge: charge[1] < SMALL)
        .next("large")
        .where(lambda charge: charge[1] > LARGE)
        .within(Time.minutes(1))
    )
    return CEP.pattern(stream, pattern).select(
        lambda match: (match["large"][0][0], match["large"][0][2], match["large"][0][1]), ALERT
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Finds frauds and checks that all were found.")
    parser.add_argument("--cards", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    charges = Charges(options.cards, options.rounds)
    env = StreamExecutionEnvironment.get_execution_environment()
    with alerts(env, charges).execute_and_collect("fraud") as results:
        found = sorted(results)
    expected = charges.frauds()
    print(f"{'OK' if found == expected else 'WRONG'}: {len(found):,} frauds found, {len(expected):,} were planted.")
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
