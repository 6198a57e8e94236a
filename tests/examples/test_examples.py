"""The programs that newcomers start with: examples/ and the README's own, run the way the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]
PENSTOCK = [sys.executable, "-m", "penstock.cli.main", "run"]


def run(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PENSTOCK_HOME": str(home)}
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=patience(300),
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def page_views(example: Callable[[str], ModuleType]) -> ModuleType:
    return example("page_views")


@pytest.mark.parametrize("views", [1, 4999, 12_345])
def test_the_generator_of_page_views_knows_its_totals(page_views: ModuleType, views: int) -> None:
    log = page_views.AccessLog(views, apps=5)
    fields = [log.line(number).split(" ") for number in range(views)]
    good = Counter(line[1] for line in fields if len(line) == 5 and line[1].startswith("app-"))
    broken = Counter({page_views.BROKEN: views - good.total()})
    assert log.totals() == good + broken


def test_page_views_notices_a_wrong_total(page_views: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    log = page_views.AccessLog(10_000, apps=3)
    totals = log.totals()
    assert page_views.compare(log, totals)
    assert not page_views.compare(log, {**totals, "app-01": totals["app-01"] + 1})
    assert not page_views.compare(log, {app: views for app, views in totals.items() if app != page_views.BROKEN})
    output = capsys.readouterr().out
    assert (output.count("differs"), output.count("OK"), output.count("WRONG: 1 ")) == (2, 1, 2)


def test_page_views_claims_no_rate_for_a_log_that_it_has_not_read_whole(page_views: ModuleType) -> None:
    first, total = page_views.FIRST, page_views.TOTAL
    whole = [(first, "a", 1), ("update", "a", 20), (first, "b", 1), (total, "a", 25), (total, "b", 9)]
    assert page_views.follow(iter(whole), 0.0) == ({"a": 25, "b": 9}, True)
    assert page_views.follow(iter(whole[1:]), 0.0) == ({"a": 25, "b": 9}, False)


@pytest.mark.spark
def test_page_views_counts_exactly(tmp_path: Path) -> None:
    done = run([*PENSTOCK, "examples/page_views.py", "--views", "30000", "--apps", "5"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "OK: every total is exact." in done.stdout
    assert "30,000 lines in " in done.stdout
    assert "app-00 has       1,000 views" in done.stdout
    assert re.search(r"broken lines +24 +24$", done.stdout, re.MULTILINE)


@pytest.mark.spark
def test_the_pyflink_word_count_runs_unchanged(tmp_path: Path) -> None:
    done = run([*PENSTOCK, "--pyflink", "examples/pyflink_word_count.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == sorted(
        ["(the,7)", "(penstock,1)", "(leads,1)", "(water,2)", "(to,1)", "(wheel,3)", "(turns,2)", "(mill,1)"]
    )


@pytest.mark.spark
def test_the_example_of_the_readme_runs_with_plain_python(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    script = tmp_path / "views.py"
    script.write_text(program)
    done = run([sys.executable, str(script)], tmp_path / "home")
    assert (done.returncode, done.stderr) == (0, "")
    results = sorted(line.split("> ")[-1] for line in done.stdout.splitlines())
    assert results == ["(app-1,1)", "(app-1,2)", "(app-1,3)", "(app-2,1)"]
