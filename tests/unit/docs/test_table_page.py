"""The examples of docs/table.md run and print what the page says."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from penstock.datastream import StreamExecutionEnvironment

PAGE = Path(__file__).resolve().parents[3] / "docs" / "table.md"
BLOCKS = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_every_example_prints_what_the_page_says(
    local_env: Callable[..., StreamExecutionEnvironment],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(
        StreamExecutionEnvironment, "get_execution_environment", staticmethod(lambda configuration=None: local_env())
    )
    monkeypatch.chdir(tmp_path)
    module = ModuleType("table_page")
    monkeypatch.setitem(sys.modules, "__main__", module)
    module.__name__ = "__main__"
    assert [kind for kind, _ in BLOCKS] == ["python", "text"] * (len(BLOCKS) // 2) and len(BLOCKS) >= 8
    for (_, program), (_, expected) in zip(BLOCKS[::2], BLOCKS[1::2], strict=True):
        exec(compile(program, str(PAGE), "exec"), vars(module))
        assert capsys.readouterr().out == expected, program
