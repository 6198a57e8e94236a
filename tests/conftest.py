"""Two ways to run programs: the whole engine in this process, and a Spark session that all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import cloudpickle
import hypothesis
import pytest
from tests.engines import ON_SPARK, named_engines
from tests.s3_server import reach, s3_server
from tests.services.kafka import KafkaBroker, Unavailable, kafka_broker
from tests.services.mariadb import MariaDbServer, mariadb_server
from tests.services.postgres import PostgresServer, postgres_server

from penstock.common import Configuration
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime import hosting

SPARK_ENGINES = tuple(name for name in named_engines() if name in ON_SPARK)
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


@pytest.fixture
def local_env() -> EnvironmentFactory:
    """Makes environments whose jobs run on this machine: `local_env(parallelism, epoch_records=3, forget=True)`."""

    def make(parallelism: int = 1, epoch_records: int = 1_000_000, forget: bool = False) -> StreamExecutionEnvironment:
        env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records, forget))
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
    engine = {"penstock.engine": SPARK_ENGINES[0]} if SPARK_ENGINES else {}
    options = RunOptions(master="local[2]", configuration={"penstock.home": str(spark_home), **engine})
    yield options
    set_run_options(before)
    if "pyspark" in sys.modules:
        from pyspark import SparkContext

        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()


@pytest.fixture(scope="session")
def running_spark(request: pytest.FixtureRequest, spark_options: RunOptions, spark_home: Path) -> None:
    """The session that all tests share, with places for resident tasks and a log that outlives the jobs."""
    from penstock.engines.spark.session import spark_context

    with pytest.MonkeyPatch.context() as environment:
        if SPARK_ENGINES:  # tests of storage run there too, and workers see what was set when Spark started
            reach(request.getfixturevalue("s3_address"), environment)
        spark_context(spark_options.master, {}, spark_home / "logs" / "spark.log", verbose=False, places=True)


@pytest.fixture(params=SPARK_ENGINES or ON_SPARK)
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
