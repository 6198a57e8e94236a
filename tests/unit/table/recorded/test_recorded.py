"""Statements of every kind and what the real Flink 2.3 gives for them: types, changelog modes, changes, prints, refusals.

Written down by recorder.py. `##SQL` is compared line by line, `##SQL~` in any order of keys (as timers of many keys are due at one moment),
`##SQL#` as the table that the changes add up to (as Flink does not say which of two inputs comes first).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.table.recorded.statement_runs import agrees, read, run

from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import EnvironmentSettings, ExplainDetail, StreamTableEnvironment

FILES = sorted(Path(__file__).parent.glob("*.txt"))


def session_for(path: Path, epoch_records: int = 1_000) -> StreamTableEnvironment:
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records, False))
    env.set_parallelism(1)
    batch = path.name.startswith("batch")
    if batch:
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    session = StreamTableEnvironment.create(env, environment_settings=settings)
    session.get_config().set("table.local-time-zone", "UTC")
    return session


def differences(path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    def printed(action: Callable[[], None]) -> str:
        capsys.readouterr()
        action()
        return capsys.readouterr().out

    session = session_for(path)
    for level, statement, expected in read(path):
        try:
            given = run(session, statement, out, printed, ExplainDetail.CHANGELOG_MODE)
        except (ProgramError, NotSupportedError, JobExecutionError) as error:
            given = [f"##ERROR {error}"]
        refused = [bool(lines) and lines[0].startswith("##ERROR") for lines in (expected, given)]
        if refused != [True, True] and not (refused == [False, False] and agrees(level, expected, given)):
            yield "\n".join([statement, "expected:", *expected, "given:", *given])


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_statements_give_what_flink_gives(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = list(differences(path, tmp_path, capsys))
    assert not wrong, "\n\n".join(wrong)


def test_there_are_enough_of_them() -> None:
    assert sum(len(read(path)) for path in FILES) >= 300
