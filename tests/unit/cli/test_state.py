"""`penstock state` on a savepoint of a real program."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.unit.state_processor.savepoints import savepoint_after

from penstock.cli.main import main
from penstock.common import Time, Types
from penstock.datastream.state import StateTtlConfig, ValueStateDescriptor
from penstock.state_processor import SavepointWriter


@pytest.fixture
def savepoint(tmp_path: Path) -> str:
    return savepoint_after(2, tmp_path)


def test_list(savepoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "list", savepoint]) == 0
    lines = capsys.readouterr().out.splitlines()
    count = next(line.split() for line in lines if " count " in line)
    assert count[0] == "counting" and count[-4:-1] == ["value", "LONG", "3"]
    assert main(["state", "list", savepoint, "--json"]) == 0
    operators = {operator["uid"]: operator for operator in json.loads(capsys.readouterr().out)}
    assert operators["counting"]["parallelism"] == 2


def test_read_in_every_format(savepoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["state", "read", savepoint, "--uid", "counting", "--state", "digits"]
    assert main([*command, "--format", "json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(row["key"] for row in rows) == [0, 1, 2]
    assert rows[0]["value"][str(rows[0]["key"])] % 3 == rows[0]["key"]
    assert main([*command, "--format", "csv", "--key", "2"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert row["key"] == "2"
    assert main([*command, "--key", "1"]) == 0
    heading, _, entry = filter(str.strip, capsys.readouterr().out.splitlines())
    assert heading.split() == ["key", "value"] and entry.split()[0] == "1"


def test_timers(savepoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "read", savepoint, "--uid", "counting", "--timers", "--format", "json"]) == 0
    assert [json.loads(line)["domain"] for line in capsys.readouterr().out.splitlines()] == ["event"] * 3


def test_unknown_state(savepoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "read", savepoint, "--uid", "counting", "--state", "nothing"]) == 1
    assert "it has count, seen, digits" in capsys.readouterr().err


def test_windows_and_expiry(savepoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "read", savepoint, "--uid", "windows", "--windows", "--format", "json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(row["key"] for row in rows) == [0, 1, 2]
    assert {row["window"] for row in rows} == {"TimeWindow(start=0, end=1000)"}
    descriptor = ValueStateDescriptor("v", Types.LONG())
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(10)).build())
    writer = SavepointWriter(clock=lambda: 1_000).add_operator("u", "keyed_process")
    path = writer.with_keyed_state("u", descriptor, {"a": 1}).write(str(tmp_path / "made"))
    assert main(["state", "read", path, "--uid", "u", "--state", "v", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"key": "a", "namespace": None, "value": 1, "expires": 11_000}
