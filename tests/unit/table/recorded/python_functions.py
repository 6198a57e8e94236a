"""Python functions that the recorded statements name, for PyFlink and for Penstock alike."""

from __future__ import annotations

from typing import Any

try:
    from pyflink.table import DataTypes
    from pyflink.table.udf import AggregateFunction, udaf, udf, udtf
except ImportError:
    from penstock.table import DataTypes
    from penstock.table.udf import AggregateFunction, udaf, udf, udtf


@udf(result_type=DataTypes.STRING())
def shout(text: str | None) -> str | None:
    return None if text is None else text.upper()


@udf(result_type=DataTypes.INT(), deterministic=False)
def noisy(number: int) -> int:
    return number


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def words(line: str | None) -> Any:
    for word in (line or "").split():
        yield word, len(word)


class Longest(AggregateFunction):
    def create_accumulator(self) -> list[str]:
        return [""]

    def accumulate(self, accumulator: list[str], word: str) -> None:
        accumulator[0] = max(accumulator[0], word, key=len)

    def get_value(self, accumulator: list[str]) -> str:
        return accumulator[0]


longest = udaf(Longest(), result_type=DataTypes.STRING(), accumulator_type=DataTypes.ARRAY(DataTypes.STRING()))
