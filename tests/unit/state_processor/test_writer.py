"""A job starts from a savepoint that was made or changed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.state_processor.savepoints import RECORDS, run, savepoint_after

from penstock.common import Types
from penstock.common.errors import ConfigurationError, JobExecutionError, NotSupportedError
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.state_processor import SavepointReader, SavepointWriter

_COUNT = ValueStateDescriptor("count", Types.LONG())


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_job_starts_with_state_from_data(tmp_path: Path, parallelism: int) -> None:
    path = str(tmp_path / "made")
    writer = SavepointWriter.new().add_operator("counting", "keyed_process", parallelism=2)
    writer.with_keyed_state("counting", _COUNT, {0: 100, 2: 300})
    assert writer.write(path) == path
    results, _ = run(parallelism, start_from=path)
    firsts = {key: min(count for k, count in results if k == key) for key in (0, 1, 2)}
    assert firsts == {0: 101, 1: 1, 2: 301}
    assert len(results) == RECORDS


def test_one_state_is_changed_and_everything_else_stays(tmp_path: Path) -> None:
    before = SavepointReader.load(savepoint_after(2, tmp_path))
    path = str(tmp_path / "changed")
    writer = SavepointWriter.from_savepoint(before.savepoint.path)
    writer.with_keyed_state("counting", _COUNT, {1: 1_000}).write(path)
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
    writer = SavepointWriter.new().add_operator("u", "keyed_process")
    writer.with_keyed_state("u", ListStateDescriptor("l", Types.LONG()), {"a": [1, 2]})
    writer.with_keyed_state("u", MapStateDescriptor("m", Types.STRING(), None), {"a": {"x": 1}}).write(path)
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
        writer.with_keyed_state("windows", _COUNT, {1: 1})
    with pytest.raises(ConfigurationError, match="no kind of operator called 'keyed_proces'"):
        writer.add_operator("new", "keyed_proces")
    with pytest.raises(NotSupportedError, match="sink has no state that could be written"):
        writer.add_operator("new", "sink")
    with pytest.raises(ConfigurationError, match=r"add_operator\('new', kind\)"):
        writer.with_keyed_state("new", _COUNT, {1: 1})
    with pytest.raises(ConfigurationError, match="'cuont'; it has count, seen, digits"):
        writer.transform_keyed_state("counting", "cuont", lambda key, value: value)
    with pytest.raises(ConfigurationError, match="say where the key is"):
        writer.with_keyed_state("counting", _COUNT, [{"user": 1}])
    with pytest.raises(ConfigurationError, match="no operator with the uid 'nobody'"):
        writer.remove_operator("nobody")
    with pytest.raises(ConfigurationError, match="is not empty"):
        writer.write(str(tmp_path))
