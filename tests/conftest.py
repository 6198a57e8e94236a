"""Two ways to run programs: the whole engine in this process, and a Spark session that all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import cloudpickle
import hypothesis
import pytest
from tests.s3_server import s3_server
from tests.services.kafka import KafkaBroker, Unavailable, kafka_broker
from tests.services.mariadb import MariaDbServer, mariadb_server
from tests.services.postgres import PostgresServer, postgres_server

from penstock.common import Configuration
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime import hosting
from penstock.testing.resident_processes import ResidentExecutor

ALL_ENGINES = "PENSTOCK_TEST_ALL_ENGINES"  # set: what runs in this process runs on resident tasks, too
ENGINE = "PENSTOCK_TEST_ENGINE"  # which one runs the jobs on Spark, if not the default
EnvironmentFactory = Callable[..., StreamExecutionEnvironment]

# How long an example takes is a matter for benchmarks, and of what else the machine is doing.
hypothesis.settings.register_profile("penstock", deadline=None)
hypothesis.settings.load_profile("penstock")


def pytest_runtest_setup(item: pytest.Item) -> None:
    # Workers cannot import test modules, so what is defined there travels by value, as it does from a script.
    module = getattr(item, "module", None)
    if module is not None and module.__name__ in sys.modules:
        cloudpickle.register_pickle_by_value(module)


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small job would spend most of its time in fsync; tests/crash, which is about durability, does not use this."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(autouse=True)
def no_containers_of_other_tests() -> Iterator[None]:
    yield
    hosting.forget_containers()


@pytest.fixture(params=[LocalExecutor, ResidentExecutor] if ALL_ENGINES in os.environ else [LocalExecutor])
def local_env(request: pytest.FixtureRequest) -> EnvironmentFactory:
    """Makes environments whose jobs run on this machine: `local_env(parallelism, epoch_records=3, forget=True)`."""
    executor = request.param
    here = "ledger" in vars(request.module) or request.node.get_closest_marker("in_this_process") is not None
    if executor is ResidentExecutor and here:
        pytest.skip("looks at what functions do in this process")

    def make(parallelism: int = 1, epoch_records: int = 1_000_000, forget: bool = False) -> StreamExecutionEnvironment:
        env = StreamExecutionEnvironment(executor=executor(epoch_records, forget))
        env.set_parallelism(parallelism)
        return env

    return make


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all jobs of the test run keep their files."""
    return tmp_path_factory.mktemp("penstock-home")


@pytest.fixture(scope="session")
def spark_options(spark_home: Path) -> Iterator[RunOptions]:
    before = current_run_options()
    engine = {"penstock.engine": os.environ[ENGINE]} if ENGINE in os.environ else {}
    options = RunOptions(master="local[2]", configuration={"penstock.home": str(spark_home), **engine})
    yield options
    set_run_options(before)
    if "pyspark" in sys.modules:
        from pyspark import SparkContext

        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()


@pytest.fixture(params=["resident", "micro-batch"])
def engine(request: pytest.FixtureRequest) -> str:
    """What `spark_env` runs jobs on. A test that is about one of them names it in a parametrize mark."""
    return str(request.param)


@pytest.fixture
def spark_env(spark_options: RunOptions, engine: str) -> Iterator[EnvironmentFactory]:
    """Makes environments whose jobs run on the shared Spark session; extra options as a dictionary."""
    before = current_run_options()
    set_run_options(spark_options)

    def make(parallelism: int = 1, options: dict[str, str] | None = None) -> StreamExecutionEnvironment:
        configuration = Configuration.from_dict({"penstock.engine": engine, **(options or {})})
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        return env

    yield make
    set_run_options(before)


@pytest.fixture(scope="session")
def s3_address() -> Iterator[str]:
    """One server for the whole run: clients are kept, and remember whom they talk to."""
    with s3_server() as address:
        yield address


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDbServer]:
    with mariadb_server() as server:
        yield server


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaBroker]:
    """One broker for the whole run; every test makes topics of its own."""
    try:
        with kafka_broker() as broker:
            yield broker
    except Unavailable as reason:
        pytest.skip(str(reason))
