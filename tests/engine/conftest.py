"""Tests of whole jobs run on the engines that PENSTOCK_TEST_ENGINES names (tests/engines.py)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engines import LOCAL, ON_SPARK, named_engines, parameters, run_local_jobs_on

from penstock.common.run_options import RunOptions, current_run_options, set_run_options


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    runs_jobs = "local_env" in metafunc.fixturenames or "LocalExecutor" in vars(metafunc.module)
    if runs_jobs and named_engines():
        metafunc.parametrize("local_engine", parameters(named_engines()), indirect=True)


@pytest.fixture(autouse=True)
def local_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where jobs run that tests give to LocalExecutor."""
    engine = str(getattr(request, "param", LOCAL))
    here = request.node.get_closest_marker("in_this_process")
    if engine != LOCAL and here is not None:
        pytest.skip(*(here.args or ["looks at what functions do in this process"]))
    run_local_jobs_on(engine, monkeypatch)
    before = current_run_options()
    if engine in ON_SPARK:
        options: RunOptions = request.getfixturevalue("spark_options")
        request.getfixturevalue("running_spark")
        set_run_options(options)
    yield engine
    set_run_options(before)
