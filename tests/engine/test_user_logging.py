"""What functions log reaches the job's log: with time, level, operator and subtask."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.common import Configuration, Types
from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.control.job_log import JobLog
from penstock.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime.report import SubtaskReport
from penstock.runtime.user_log import LogLine, UserLog, logging_to, set_levels
from penstock.testing.resident_processes import ResidentExecutor

LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "


class Logging(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        logging.getLogger("my.module").info("opened")

    def map(self, value: int) -> int:
        logging.getLogger("my.module").warning("value %d", value)
        logging.getLogger("other").info("seen %d", value)
        return 10 // value


@pytest.fixture
def verbose() -> Iterator[None]:
    before = current_run_options()
    set_run_options(RunOptions(verbose=True))
    yield
    set_run_options(before)


def run(values: list[int], options: dict[str, str] | None = None) -> None:
    env = StreamExecutionEnvironment(Configuration.from_dict(options or {}), LocalExecutor())
    env.set_parallelism(1)
    env.from_collection(values, Types.INT()).map(Logging(), Types.INT()).name("halve").print()
    env.execute()


def test_warnings_appear_with_operator_and_subtask(capsys: pytest.CaptureFixture[str]) -> None:
    run([1, 2])
    error = capsys.readouterr().err
    assert re.search(LINE + r"WARNING \[halve \(1/1\)\] my.module: value 1$", error, re.MULTILINE)
    assert "value 2" in error and "seen" not in error


@pytest.mark.usefixtures("verbose")
def test_everything_appears_with_v(capsys: pytest.CaptureFixture[str]) -> None:
    run([1])
    error = capsys.readouterr().err
    assert re.search(LINE + r"INFO    \[halve \(1/1\)\] my.module: opened$", error, re.MULTILINE)
    assert "other: seen 1" in error


@pytest.mark.usefixtures("verbose")
def test_levels_are_those_of_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    run([1], {"python.logging.default.level": "ERROR", "python.logging.level.overrides": "other:INFO,my.module:ERROR"})
    error = capsys.readouterr().err
    assert "other: seen 1" in error and "my.module" not in error
    run([1])
    assert "my.module: value 1" in capsys.readouterr().err, "the levels of one job are not those of the next"


def test_an_unknown_level_is_refused_before_the_job_starts() -> None:
    with pytest.raises(ConfigurationError, match="'LOUD' is no level"):
        run([1], {"python.logging.default.level": "LOUD"})


def test_what_was_logged_before_a_failure_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(JobExecutionError):
        run([1, 0])
    assert "my.module: value 0" in capsys.readouterr().err


def test_the_log_is_a_file_in_the_order_of_time(tmp_path: Path) -> None:
    reports = [SubtaskReport(0, n, log=[LogLine(20.0 - n, logging.INFO, "a", "Map", n, 2, f"m{n}")]) for n in range(2)]
    JobLog.of(tmp_path, "ab", verbose=False).write(reports)
    lines = (tmp_path / "logs" / "ab.log").read_text().splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == ["m1", "m0"]
    assert "[Map (2/2)]" in lines[0]


def test_a_flood_of_messages_is_cut() -> None:
    set_levels("INFO", {})
    log = UserLog(0)
    with logging_to(log):
        for n in range(10_005):
            logging.getLogger("flood").info("n %d", n)
    lines = log.take()
    assert len(lines) == 10_001 and "5 more messages were dropped" in lines[-1].message
    assert log.take() == []


class FailsToOpen(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        print("printed before it failed")
        logging.getLogger("my.module").warning("about to fail")
        raise ValueError("no connection")

    def map(self, value: int) -> int:
        return value


@pytest.mark.parametrize("executor", [LocalExecutor, ResidentExecutor])
def test_what_is_said_before_open_fails_is_not_lost(executor: type, capsys: pytest.CaptureFixture[str]) -> None:
    env = StreamExecutionEnvironment(executor=executor())
    env.from_collection([1], Types.INT()).map(FailsToOpen(), Types.INT()).print()
    with pytest.raises(JobExecutionError, match="no connection"):
        env.execute()
    captured = capsys.readouterr()
    assert "printed before it failed" in captured.out
    assert re.search(LINE + r"WARNING \[Map \(\d/\d\)\] my.module: about to fail$", captured.err, re.MULTILINE)
