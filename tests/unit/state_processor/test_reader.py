"""Everything that a job had in its state can be read from a savepoint."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.state_processor.savepoints import TIMER, savepoint_after

from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.state_processor import SavepointReader


@pytest.fixture
def reader(tmp_path: Path) -> SavepointReader:
    return SavepointReader.load(savepoint_after(2, tmp_path))


def test_operators_and_states(reader: SavepointReader) -> None:
    operators = {operator.uid: operator for operator in reader.operators()}
    assert {"numbers", "times", "counting", "windows"} <= set(operators)
    counting = operators["counting"]
    assert (counting.kind, counting.parallelism, counting.max_parallelism) == ("keyed_process", 2, 128)
    states = {state.name: (state.kind, state.entries) for state in counting.states}
    assert states == {
        "count": ("value", 3),
        "seen": ("list", 3),
        "digits": ("map", 3),
        "(event-time timers)": ("timers", 3),
    }
    assert all(state.bytes > 0 for state in counting.states)


def test_keyed_state_of_every_kind(reader: SavepointReader) -> None:
    counts = {row.key: row.value for row in reader.read_keyed_state("counting", "count")}
    seen = {row.key: sorted(row.value) for row in reader.read_keyed_state("counting", "seen")}
    digits = {row.key: row.value for row in reader.read_keyed_state("counting", "digits")}
    numbers = sorted(number for values in seen.values() for number in values)
    assert numbers == list(range(len(numbers))) and 0 < len(numbers) < 40
    for key in (0, 1, 2):
        mine = [number for number in numbers if number % 3 == key]
        assert (counts[key], seen[key]) == (len(mine), mine)
        assert digits[key] == {number % 10: number for number in mine}


def test_tables(reader: SavepointReader) -> None:
    rows = reader.read_keyed_state("counting", "count")
    frame, table = rows.to_pandas(), rows.to_arrow()
    assert list(frame.columns) == table.column_names == ["key", "namespace", "value"]
    assert sorted(frame["key"]) == sorted(table["key"].to_pylist()) == [0, 1, 2]
    assert len(rows) == 3


def test_window_state_is_by_key(reader: SavepointReader) -> None:
    rows = [
        row
        for name in reader.keyed_state_names("windows")
        for row in reader.read_keyed_state("windows", name)
        if row.key is not None
    ]
    assert {row.key for row in rows} == {0, 1, 2}


def test_timers(reader: SavepointReader) -> None:
    timers = reader.read_timers("counting")
    assert sorted((timer.key, timer.time, timer.domain) for timer in timers) == [
        (key, TIMER, "event") for key in (0, 1, 2)
    ]


def test_wrong_names_are_answered_with_the_right_ones(reader: SavepointReader) -> None:
    with pytest.raises(ConfigurationError, match="'count1'.*it has count, seen, digits"):
        reader.read_keyed_state("counting", "count1")
    with pytest.raises(ConfigurationError, match="'cuonting'.*counting"):
        reader.read_timers("cuonting")
    with pytest.raises(ConfigurationError, match="it has none"):
        reader.read_operator_state("counting", "offsets")


def test_no_savepoint(tmp_path: Path) -> None:
    with pytest.raises(JobExecutionError, match="no savepoint"):
        SavepointReader.load(str(tmp_path))
