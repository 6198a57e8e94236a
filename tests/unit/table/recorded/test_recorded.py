"""Statements of every kind and what the real Flink 2.3 gives: types, changelog modes, changes, prints, refusals.

Written down by recorder.py; a refusal by both is enough. A mark after ##SQL says how exactly the rest is compared:

    (none)  line by line
    ~       the same changes in any order of keys, as timers of many keys are due at one moment
    #       the same table, as Flink does not say which of two inputs comes first
    *       the same table from another plan, so that the changelog mode is another one, too
    +       Flink refuses it, and here it works
    -       Flink does it, and here it is refused so far: a test that fails when it starts to work
    !       Flink's answer is wrong, or only its own: docs/pyflink.md says why
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.table.recorded.statement_runs import agrees, read, run

from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError, SetupError
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
        except (ProgramError, NotSupportedError, JobExecutionError, SetupError) as error:
            given = [f"##ERROR {error}"]
        if not _as_said(level, expected, given):
            yield "\n".join([f"{level} {statement}", "expected:", *expected, "given:", *given])


def _as_said(level: str, expected: list[str], given: list[str]) -> bool:
    theirs, ours = (bool(lines) and lines[0].startswith("##ERROR") for lines in (expected, given))
    if level in ("+", "-"):
        return (theirs, ours) == (level == "+", level == "-")
    if level == "!":
        return not ours and not agrees("#", expected, given)
    return theirs == ours and (ours or agrees(level, expected, given))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_statements_give_what_flink_gives(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = list(differences(path, tmp_path, capsys))
    assert not wrong, "\n\n".join(wrong)


def test_there_are_enough_of_them() -> None:
    assert sum(len(read(path)) for path in FILES) >= 300
