"""The programs of tests/pyflink_programs print what PyFlink prints."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import engines

from penstock.cli import pyflink_alias, script
from penstock.common.options import MICRO_BATCH, RESIDENT
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.engines.local.executor import LocalExecutor
from penstock.engines.spark import executor as spark_executor

PROGRAMS = Path(__file__).parent.parent / "pyflink_programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))

DIFFERENT = {
    "window_late_data": "sleeps to let watermarks pass; tests/engine/test_watermarks.py has it without",
}
ONLY_ON_SPARK = {
    "job_execute_async": "the in-process executor runs a job inside execute_async()",
    "job_execution_result": "the in-process executor does not measure run times",
}
ONLY_RESIDENT = {
    "timer_by_the_clock_between_slow_records": "records of an epoch arrive together: docs/pyflink.md",
}
ELSEWHERE = {*DIFFERENT, *ONLY_ON_SPARK, *ONLY_RESIDENT}
NOT_ON: dict[str, set[str]] = {
    engines.LOCAL: ELSEWHERE,
    engines.PROCESSES: {*DIFFERENT, *ONLY_ON_SPARK},
    RESIDENT: {*DIFFERENT},
    MICRO_BATCH: {*DIFFERENT, *ONLY_RESIDENT},
}
NOT_FORGETFUL = {
    "sink_file_with_compaction": "counts compacted files, and here there are more checkpoints",
    "config_execution_config_switches": "prints the watermark interval, which these tests set",
    **{
        name: "tells how often functions are opened, and here they are opened again in every epoch"
        for name in NAMES
        if name.startswith("functions_open_and_close")
    },
}
ON_SPARK = [
    "batch_rolling_reduce_emits_last",
    "broadcast_state_on_every_subtask",
    "collection_composite_types",
    "connect_keyed_state_shared_by_both_inputs",
    "context_runtime_values",
    "job_execute_async",
    "job_execution_result",
    "job_failing_in_open_and_keyed_process",
    "keyed_word_count_parallel",
    "map_module_level_helpers_and_closures",
    "map_user_prints_to_stdout",
    "partition_custom",
    "pipeline_sensor_alerts",
    "row_nested",
    "side_output_from_keyed_process_and_timer",
    "sink_file_parallel",
    "source_file_word_count",
    "state_several_states_and_pickled_values",
    "timer_event_time_basic",
]

ON_RESIDENT = [
    "broadcast_state_keyed_decides_at_end",
    "connect_timers_wait_for_both_inputs",
    "context_runtime_values",
    "job_failing_in_open_and_keyed_process",
    "job_two_jobs_in_one_environment",
    "keyed_different_parallelisms",
    "map_user_prints_to_stdout",
    "partition_custom",
    "pipeline_sensor_alerts",
    "side_output_from_keyed_process_and_timer",
    "sink_file_parallel",
    "timer_event_time_basic",
    *ONLY_RESIDENT,
]


def printed(text: str, mode: str) -> list[str]:
    lines = text.splitlines()
    if mode == "exact":
        return lines
    if mode == "sorted-noprefix":
        lines = [re.sub(r"^(.*?):?\d+> ", lambda found: f"{found[1]}> " if found[1] else "", line) for line in lines]
    else:
        assert mode == "sorted", f"unknown way to compare: {mode}"
    return sorted(lines)


def result_of(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """What the program printed and what PyFlink printed, both as its first line says to compare them."""
    source = PROGRAMS / f"{name}.py"
    mode = source.read_text().splitlines()[0].removeprefix("# compare: ")
    expected = (PROGRAMS / f"{name}.expected").read_text()
    script.run_as_main(str(source), [])
    return printed(capsys.readouterr().out, mode), printed(expected, mode)


@pytest.fixture
def as_a_program() -> Iterator[None]:
    """Lets a program be `__main__` with `pyflink` meaning Penstock, and undoes both."""
    saved = sys.modules["__main__"], list(sys.argv), list(sys.path), list(sys.meta_path)
    pyflink_alias.install()
    yield
    sys.modules["__main__"], sys.argv[:], sys.path[:], sys.meta_path[:] = saved
    for name in [name for name in sys.modules if name.split(".")[0] == "pyflink"]:
        del sys.modules[name]


@pytest.fixture
def where(request: pytest.FixtureRequest, as_a_program: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """On Spark as `penstock run` does it, otherwise to its end inside of execute()."""
    engine, before = str(request.param), current_run_options()
    if engine in engines.ON_SPARK:
        options: RunOptions = request.getfixturevalue("spark_options")
        configuration = {**options.configuration, "penstock.engine": engine}
        set_run_options(RunOptions(master=options.master, configuration=configuration, pyflink_imports=True))
    else:
        engines.run_local_jobs_on(engine, monkeypatch)
        monkeypatch.setattr(spark_executor, "SparkExecutor", LocalExecutor)
    yield engine
    set_run_options(before)


@pytest.fixture
def forgetful_in_small_epochs(
    request: pytest.FixtureRequest, as_a_program: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    # Without watermarks of the clock: how far they have come when a record arrives would depend on the epochs.
    before = current_run_options()
    set_run_options(RunOptions(configuration={"pipeline.auto-watermark-interval": "0"}))
    engines.run_local_jobs_on(request.param, monkeypatch)
    monkeypatch.setattr(spark_executor, "SparkExecutor", lambda: LocalExecutor(2, forget=True))
    yield
    set_run_options(before)


def runs() -> Iterator[Any]:
    """All programs on the engines that are named; without a name all in this process, and some elsewhere."""
    usual = {engines.LOCAL: NAMES, engines.PROCESSES: ON_RESIDENT, RESIDENT: ON_SPARK}
    named = engines.named_engines()
    for engine, names in dict.fromkeys(named, NAMES).items() if named else usual.items():
        for name in names:
            if name not in NOT_ON[engine]:
                yield pytest.param(engine, name, marks=pytest.mark.spark if engine in engines.ON_SPARK else ())


@pytest.mark.parametrize(("where", "name"), list(runs()), indirect=["where"])
def test_program(where: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    got, wanted = result_of(name, capsys)
    assert got == wanted


@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if name not in ELSEWHERE and name not in NOT_FORGETFUL],
)
@pytest.mark.parametrize(
    "forgetful_in_small_epochs",
    [name for name in engines.named_engines() if name not in engines.ON_SPARK] or [engines.LOCAL],
    indirect=True,
)
@pytest.mark.usefixtures("forgetful_in_small_epochs")
def test_program_in_epochs_of_two_records_from_snapshots_alone(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    got, wanted = result_of(name, capsys)
    assert got == wanted


@pytest.mark.parametrize("name", [name for name in DIFFERENT if name != "window_late_data"])
@pytest.mark.parametrize("where", [engines.LOCAL], indirect=True)
def test_known_difference_is_still_one(where: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry that has come to match leaves the table."""
    try:
        got, wanted = result_of(name, capsys)
    except ModuleNotFoundError:
        return
    assert got != wanted, f"{name} gives PyFlink's result now: take it out of DIFFERENT"


def test_tables_name_only_programs_that_exist() -> None:
    assert {*ELSEWHERE, *NOT_FORGETFUL, *ON_SPARK, *ON_RESIDENT} <= set(NAMES)
    assert set(ONLY_ON_SPARK) <= set(ON_SPARK)
