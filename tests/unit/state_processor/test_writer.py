"""A job starts from a savepoint that was made or changed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.state_processor.savepoints import RECORDS, run, savepoint_after

from penstock.common.errors import ConfigurationError, JobExecutionError, NotSupportedError
from penstock.state_processor import SavepointReader, SavepointWriter


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_job_starts_with_state_from_data(tmp_path: Path, parallelism: int) -> None:
    path = str(tmp_path / "made")
    writer = SavepointWriter.new().with_keyed_state("counting", "value", "count", {0: 100, 2: 300}, parallelism=2)
    assert writer.write(path) == path
    results, _ = run(parallelism, start_from=path)
    firsts = {key: min(count for k, count in results if k == key) for key in (0, 1, 2)}
    assert firsts == {0: 101, 1: 1, 2: 301}
    assert len(results) == RECORDS


def test_one_state_is_changed_and_everything_else_stays(tmp_path: Path) -> None:
    before = SavepointReader.load(savepoint_after(2, tmp_path))
    path = str(tmp_path / "changed")
    SavepointWriter.from_savepoint(before.savepoint.path).with_keyed_state(
        "counting", "value", "count", {1: 1_000}
    ).write(path)
    after = SavepointReader.load(path)
    assert {row.key: row.value for row in after.read_keyed_state("counting", "count")} == {1: 1_000}
    for state in ("seen", "digits"):
        rows = sorted(after.read_keyed_state("counting", state))
        assert rows == sorted(before.read_keyed_state("counting", state)) and len(rows) == 3
    assert after.read_timers("counting") == before.read_timers("counting")
    read = sum(len(row.value) for row in before.read_keyed_state("counting", "seen"))
    results, _ = run(start_from=path)
    assert len(results) == RECORDS - read, "the source goes on where it was"
    assert min(count for key, count in results if key == 1) == 1_001


def test_lists_and_maps(tmp_path: Path) -> None:
    path = str(tmp_path / "made")
    SavepointWriter.new().with_keyed_state("u", "list", "l", {"a": [1, 2]}).with_keyed_state(
        "u", "map", "m", {"a": {"x": 1}}
    ).write(path)
    reader = SavepointReader.load(path)
    assert [row.value for row in reader.read_keyed_state("u", "l")] == [[1, 2]]
    assert [row.value for row in reader.read_keyed_state("u", "m")] == [{"x": 1}]


def test_an_operator_is_removed(tmp_path: Path) -> None:
    path, without = savepoint_after(2, tmp_path), str(tmp_path / "without")
    with pytest.raises(JobExecutionError, match="uid counting"):
        run(count_uid="renamed", start_from=path)
    SavepointWriter.from_savepoint(path).remove_operator("counting").write(without)
    results, _ = run(count_uid="renamed", start_from=without)
    assert {key: min(count for k, count in results if k == key) for key in (0, 1, 2)} == {0: 1, 1: 1, 2: 1}
    assert SavepointReader.load(path).keyed_state_names("counting"), "the savepoint that it came from is untouched"


def test_refusals(tmp_path: Path) -> None:
    writer = SavepointWriter.from_savepoint(savepoint_after(1, tmp_path))
    with pytest.raises(NotSupportedError, match="windows have a layout of their own"):
        writer.with_keyed_state("windows", "value", "x", {1: 1})
    with pytest.raises(ConfigurationError, match="value, list, map, reducing, aggregating"):
        writer.with_keyed_state("counting", "set", "x", {1: 1})
    with pytest.raises(ConfigurationError, match="no operator with the uid 'nobody'"):
        writer.remove_operator("nobody")
    with pytest.raises(ConfigurationError, match="is not empty"):
        writer.write(str(tmp_path))
