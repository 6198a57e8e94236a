"""The reference job with sliding windows: its counts, with and without Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.patience import patience

from penstock.datastream import StreamExecutionEnvironment

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "sliding_count.py"
START = 1_700_000_000_000


@pytest.fixture
def sliding_count(example: Callable[[str], ModuleType]) -> ModuleType:
    return example("sliding_count")


def test_the_expected_counts_are_those_of_counting_each_record(sliding_count: ModuleType) -> None:
    seconds, rate = 6, 50
    moments = [START + number * 1000 // rate for number in range(seconds * rate)]
    total, counted = 0, []
    for end in range(START + 1000, START + (seconds + 4) * 1000, 1000):
        count = sum(end - 4000 <= moment < end for moment in moments)
        total += count
        counted.append((end, count, total))
    assert sliding_count.expected_counts(seconds, rate, START) == counted


@pytest.mark.filterwarnings("ignore:Option 'execution.checkpointing.interval'")
@pytest.mark.parametrize("seconds", [1, 3, 9])
@pytest.mark.parametrize("forget", [False, True])
def test_counts_and_running_total(
    sliding_count: ModuleType, local_env: Callable[..., StreamExecutionEnvironment], seconds: int, forget: bool
) -> None:
    env = local_env(epoch_records=300, forget=forget)
    with sliding_count.counts(env, seconds, 100, START, fast=True).execute_and_collect() as rows:
        results = list(rows)
    assert results == sliding_count.expected_counts(seconds, 100, START)


def test_a_wrong_count_is_noticed(sliding_count: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    expected = sliding_count.expected_counts(5, 100, START)
    assert sliding_count.compare(expected, expected) == 0
    assert sliding_count.compare(expected[:-1], expected) == 1
    wrong = [(expected[0][0], expected[0][1] + 1, expected[0][2] + 1), *expected[1:]]
    assert sliding_count.compare(wrong, expected) == 1
    assert capsys.readouterr().out.count("WRONG") == 2


@pytest.mark.spark
def test_the_job_counts_exactly_on_spark(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock.cli.main", "run", "examples/sliding_count.py", "--seconds", "3"]
    environment = {**os.environ, "PENSTOCK_HOME": str(tmp_path)}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=patience(300),
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert "OK: all 6 windows have the right counts." in done.stdout
    assert "30,000" in done.stdout and "120,000" in done.stdout
