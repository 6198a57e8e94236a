"""Savepoints and Spark: state as DataFrames, savepoints of DataFrames, and programs that have changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.patience import patience

from penstock.common import Row, Types
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.state_processor import SavepointReader, SavepointWriter

pytestmark = pytest.mark.spark

_USER = Types.ROW_NAMED(["name", "visits"], [Types.STRING(), Types.LONG()])


@pytest.fixture
def session(spark_env: EnvironmentFactory) -> Any:
    """The session that jobs use."""
    list(spark_env().from_collection([1]).execute_and_collect())
    from penstock.engines.spark.session import running_session

    return running_session()


def test_state_of_data_frames_and_data_frames_of_state(session: Any, tmp_path: Path) -> None:
    frame = session.range(0, 3000, 1, 4).selectExpr(
        "id % 1000 as user", "concat('u', id % 1000) as name", "id as visits"
    )
    writer = SavepointWriter.new().add_operator("users", "keyed_process")
    last = frame.filter("visits >= 2000")
    writer.with_keyed_state("users", ValueStateDescriptor("user", _USER), last, key="user")
    writer.with_keyed_state("users", ListStateDescriptor("all", Types.LONG()), frame, key="user", value="visits")
    reader = SavepointReader.load(writer.write(str(tmp_path / "made")))
    assert len(reader.savepoint.parts) > 2, "the tasks have written parts of their own"
    lists = reader.read_keyed_state("users", "all").to_spark(session)
    assert lists.count() == 1000
    assert lists.selectExpr("sum(aggregate(value, 0L, (a, b) -> a + b))").first()[0] == sum(range(3000))
    users = reader.read_keyed_state("users", "user").to_spark(session)
    assert users.schema["value"].dataType.simpleString() == "struct<name:string,visits:bigint>"
    assert users.filter("value.visits - key = 2000 and value.name = concat('u', key)").count() == 1000


_PROGRAM = """
import sys

from penstock.common import Row, Types
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor

TYPES = {
    "more": Types.ROW_NAMED(
        ["name", "visits", "country"], [Types.STRING(), Types.LONG(), Types.STRING()]
    ).with_defaults({"country": "?"}),
    "less": Types.ROW_NAMED(["name", "visits"], [Types.STRING(), Types.SHORT()]),
}


class Visits(KeyedProcessFunction):
    def __init__(self, type_info):
        self.type_info = type_info

    def open(self, context):
        self.user = context.get_state(ValueStateDescriptor("user", self.type_info))

    def process_element(self, value, ctx):
        user = self.user.value()
        self.user.update(Row(name=user.name, visits=user.visits + 1, country=user.country))
        yield self.user.value()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_collection([1, 2, 2], Types.LONG()).uid("numbers").key_by(lambda n: n)
numbers.process(Visits(TYPES[sys.argv[1]])).uid("users").name("visits of users").print().uid("out")
env.execute()
"""


def _penstock(tmp_path: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("penstock")), "run", *arguments]
    environment = {**os.environ, "PENSTOCK_HOME": str(home)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(180), cwd=tmp_path)


def test_a_changed_program_from_the_command_line(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    writer = SavepointWriter.new().add_operator("users", "keyed_process")
    descriptor, users = ValueStateDescriptor("user", _USER), {n: Row(name=f"u{n}", visits=10) for n in (1, 2)}
    path = writer.with_keyed_state("users", descriptor, users).write(str(tmp_path / "savepoint"))
    refused = _penstock(tmp_path, tmp_path / "home", "-s", path, str(program), "less")
    assert refused.returncode != 0 and refused.stdout == ""
    assert "the state 'user' of the operator 'visits of users' (uid users) was saved as value state" in refused.stderr
    assert "field 'visits': LONG cannot become SHORT" in refused.stderr
    run = _penstock(tmp_path, tmp_path / "home", "-s", path, str(program), "more")
    assert run.returncode == 0, run.stderr
    assert sorted(line.split("> ")[-1] for line in run.stdout.splitlines()) == [
        "Row(name='u1', visits=11, country='?')",
        "Row(name='u2', visits=11, country='?')",
        "Row(name='u2', visits=12, country='?')",
    ]
