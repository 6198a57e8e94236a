"""The source and the sink of docs/connectors-own.md, in process and on Spark."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.conftest import EnvironmentFactory
from tests.patience import patience

from penstock.common import Types, WatermarkStrategy
from penstock.connectors import CommitterContext
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor

ROOT = Path(__file__).resolve().parents[2]
EVENT = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])


@pytest.fixture
def sqlite_source(example: Callable[[str], ModuleType]) -> ModuleType:
    return example("sqlite_source")


@pytest.fixture
def sqlite_sink(example: Callable[[str], ModuleType]) -> ModuleType:
    return example("sqlite_sink")


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    directory = tmp_path / "databases"
    directory.mkdir()
    for number in range(3):
        with sqlite3.connect(directory / f"{number}.sqlite") as database:
            database.execute("create table events (name text, amount integer, moment integer)")
            rows = [(f"n{row % 2}", 1, 1000 * row) for row in range(10 * (number + 1))]
            database.executemany("insert into events values (?, ?, ?)", rows)
        database.close()
    return directory


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("parallelism", [1, 2])
def test_the_source_reads_every_row_once(
    local_env: EnvironmentFactory, sqlite_source: ModuleType, databases: Path, parallelism: int, forget: bool
) -> None:
    env = local_env(parallelism, 7, forget)
    source = sqlite_source.SqliteSource(str(databases))
    events = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "databases")
    sums = events.key_by(lambda e: e[0]).reduce(lambda a, b: (a[0], a[1] + b[1], b[2]))
    results = list(sums.execute_and_collect())
    assert len(results) == 60
    assert max(amount for name, amount, _ in results if name == "n0") == 30


def test_the_source_goes_on_after_a_savepoint(sqlite_source: ModuleType, databases: Path, tmp_path: Path) -> None:
    stopping = LocalExecutor(epoch_records=10, stop_after=3, savepoint_directory=str(tmp_path / "savepoints"))
    found = []
    for executor in (stopping, None):
        env = StreamExecutionEnvironment(executor=executor or LocalExecutor(start_from=stopping.savepoint_path))
        env.set_parallelism(2)
        source = sqlite_source.SqliteSource(str(databases))
        events = env.from_source(source, WatermarkStrategy.no_watermarks(), "databases").uid("databases")
        found += list(events.map(lambda event: event, EVENT).uid("map").execute_and_collect())
    assert len(found) == 60


def test_the_sink_writes_every_record_once(
    local_env: EnvironmentFactory, sqlite_sink: ModuleType, tmp_path: Path
) -> None:
    env = local_env(2, 10)
    pairs = env.from_collection([(n, n * n) for n in range(100)], Types.TUPLE([Types.INT(), Types.INT()]))
    pairs.sink_to(sqlite_sink.SqliteSink(str(tmp_path / "out.sqlite"), "squares", ["number", "square"]))
    env.execute()
    assert _squares(tmp_path / "out.sqlite") == [(n, n * n) for n in range(100)]


def test_a_commit_that_comes_again_after_a_crash_changes_nothing(sqlite_sink: ModuleType, tmp_path: Path) -> None:
    sink = sqlite_sink.SqliteSink(str(tmp_path / "out.sqlite"), "squares", ["number", "square"])
    for epochs in ((1, 2), (2, 3)):  # the second driver repeats the last epoch of the first
        committer = sink.create_committer(CommitterContext("job", "uid", "sink"))
        committer.open()
        for epoch in epochs:
            committer.commit(epoch, [(epoch, epoch * epoch)])
        committer.close()
    assert _squares(tmp_path / "out.sqlite") == [(1, 1), (2, 4), (3, 9)]


def _squares(path: Path) -> list[tuple[int, int]]:
    with sqlite3.connect(path) as database:
        rows = database.execute("select number, square from squares order by number").fetchall()
    database.close()
    return rows


@pytest.mark.spark
def test_both_run_on_spark(databases: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PENSTOCK_HOME": str(tmp_path / "home")}

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "penstock.cli.main", "run", "-p", "2", *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=patience(300),
            stdin=subprocess.DEVNULL,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    out = run("examples/sqlite_source.py", str(databases))
    sums = [int(total) for total in re.findall(r"\(n1,(\d+),", out)]
    assert (len(out.splitlines()), max(sums)) == (60, 30)
    run("examples/sqlite_sink.py", str(tmp_path / "out.sqlite"))
    assert _squares(tmp_path / "out.sqlite") == [(n, n * n) for n in range(1, 1001)]


def test_the_page_shows_the_examples_as_they_are() -> None:
    page = (ROOT / "docs" / "connectors-own.md").read_text()
    shown = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    examples = [(ROOT / "examples" / f"sqlite_{end}.py").read_text() for end in ("source", "sink")]
    assert shown
    for block in shown:
        assert any(block in example for example in examples), f"not in the examples:\n{block}"
