"""Every example of docs/pyflink.md prints what stands under it, and the table names every section."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli import pyflink_alias, script
from penstock.common import options
from penstock.engines.local.executor import LocalExecutor
from penstock.engines.spark import executor as spark_executor

PAGE = (Path(__file__).parents[2] / "docs" / "pyflink.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


@pytest.fixture
def as_a_program(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    saved = sys.modules["__main__"], list(sys.argv), list(sys.path), list(sys.meta_path)
    pyflink_alias.install()
    monkeypatch.setattr(spark_executor, "SparkExecutor", LocalExecutor)
    monkeypatch.setattr(options, "_warned", set())
    yield
    sys.modules["__main__"], sys.argv[:], sys.path[:], sys.meta_path[:] = saved
    for name in [name for name in sys.modules if name.split(".")[0] == "pyflink"]:
        del sys.modules[name]


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.usefixtures("as_a_program")
def test_example(
    section: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = EXAMPLE.search(SECTIONS[section])
    assert found is not None, f"the section {section!r} has no example"
    program = tmp_path / "example.py"
    program.write_text(found[1], encoding="utf-8")
    script.run_as_main(str(program), [])
    assert capsys.readouterr().out == found[2]


def test_the_table_names_every_section() -> None:
    linked = re.findall(r"^\| \[(.+?)\]\(#(.+?)\)", PAGE, re.MULTILINE)
    assert [name for name, _ in linked] == list(SECTIONS)
    assert all(anchor == name.lower().replace(" ", "-") for name, anchor in linked)
