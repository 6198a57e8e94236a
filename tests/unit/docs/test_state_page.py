"""The examples of docs/state.md do what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.unit.state_processor.savepoints import run, savepoint_after

from penstock.common import Types
from penstock.datastream.state import ValueStateDescriptor
from penstock.state_processor import SavepointReader

PAGE = Path(__file__).resolve().parents[3] / "docs" / "state.md"


def test_the_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {
        "Types": Types,
        "ValueStateDescriptor": ValueStateDescriptor,
        "savepoint": savepoint_after(2, tmp_path),
        "changed": str(tmp_path / "changed"),
        "made": str(tmp_path / "made"),
    }
    for program in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(program, str(PAGE), "exec"), names)
    counts = {int(key): int(count) for key, count in (line.split() for line in capsys.readouterr().out.splitlines())}
    assert set(counts) == {0, 1, 2} and len(names["frame"]) == 3
    changed = SavepointReader.load(names["changed"])
    assert {row.key: row.value for row in changed.read_keyed_state("counting by key", "count")} == {
        key: count * 2 for key, count in counts.items()
    }
    results, _ = run(start_from=names["made"])
    assert {key: min(count for k, count in results if k == key) for key in (0, 1, 2)} == {0: 11, 1: 22, 2: 1}
