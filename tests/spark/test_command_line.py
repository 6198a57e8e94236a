"""`penstock run` from outside: what it prints, what it returns, and what reaches the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.patience import completed, patience

pytestmark = pytest.mark.spark

PENSTOCK = Path(sys.executable).with_name("penstock")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Of each test its own: what a test that failed has left behind is not another one's fault."""
    return tmp_path / "home"


def command(*arguments: str) -> list[str]:
    return [str(PENSTOCK), "run", *arguments]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "PENSTOCK_HOME": str(home)}


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return completed(command(*arguments), 180, env=environment(home), cwd=str(home.parent))


def write_wheel(path: Path, module: str, content: str) -> None:
    """By hand, because building one would ask the network for the tools."""
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{module}.py", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", f"{module}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


DEPENDENCIES = """
import os
import sys

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment

from beside import shout

here = os.path.dirname(os.path.abspath(__file__))


class Use(MapFunction):
    def map(self, value):
        import added
        import tiny_required_package

        with open("data.zip/inside/words.txt") as file:
            word = file.read()
        return "|".join([shout(value), added.NAME, tiny_required_package.NAME, word])


env = StreamExecutionEnvironment.get_execution_environment()
env.add_python_file(os.path.join(here, "elsewhere", "added.py"))
env.set_python_requirements(os.path.join(here, "requirements.txt"))
env.add_python_archive(os.path.join(here, "data.zip"))
print("arguments", sys.argv[1:], "parallelism", env.get_parallelism())
env.from_collection(["a", "b"], Types.STRING()).map(Use(), Types.STRING()).print()
env.execute()
print("done")
"""


def test_program_with_all_kinds_of_dependencies(tmp_path: Path, home: Path) -> None:
    (tmp_path / "beside.py").write_text("def shout(text):\n    return text.upper()\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "added.py").write_text("NAME = 'added'\n")
    wheel = tmp_path / "tiny_required_package-1.0-py3-none-any.whl"
    write_wheel(wheel, "tiny_required_package", "NAME = 'required'\n")
    (tmp_path / "requirements.txt").write_text(f"{wheel}\n")
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("inside/words.txt", "archived")
    script = tmp_path / "program.py"
    script.write_text(DEPENDENCIES)
    result = run(home, "--pyflink", "-p", "1", "--master", "local[2]", str(script), "--flag", "x")
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "arguments ['--flag', 'x'] parallelism 1",
        "A|added|required|archived",
        "B|added|required|archived",
        "done",
    ]
    assert result.returncode == 0


FAILING = """
from penstock.datastream import StreamExecutionEnvironment


def divide(value):
    return 10 / value


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([5, 0]).map(divide).name("divider").print()
print("before")
env.execute()
print("not reached")
"""


def test_failing_program(tmp_path: Path, home: Path) -> None:
    script = tmp_path / "failing.py"
    script.write_text(FAILING)
    result = run(home, "-p", "1", "--master", "local[2]", str(script))
    assert result.returncode == 1
    assert result.stdout.startswith("before\n") and "not reached" not in result.stdout
    assert result.stderr.startswith("penstock: ZeroDivisionError in operator 'divider'")
    assert f"{script}:10" in result.stderr and "return 10 / value" in result.stderr
    assert "org.apache" not in result.stderr and "py4j" not in result.stderr.lower()


KEYED = """
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor

from beside import describe


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield describe(ctx.get_current_key(), count)


env = StreamExecutionEnvironment.get_execution_environment()
counts = env.from_collection(list(range(60)), Types.INT()).key_by(lambda n: n % 6).process(Count())
for line in sorted(counts.execute_and_collect()):
    print(line)
"""


def test_executors_in_processes_of_their_own(tmp_path: Path, home: Path) -> None:
    (tmp_path / "beside.py").write_text("def describe(key, count):\n    return f'{key} {count:02d}'\n")
    script = tmp_path / "keyed.py"
    script.write_text(KEYED)
    small = ["-D", "penstock.epoch.initial-records=20", "-D", "penstock.epoch.max-records=20"]
    result = run(home, "--pyflink", "-p", "2", *small, "--master", "local-cluster[2,1,1024]", str(script))
    assert result.stderr == ""
    assert result.stdout.splitlines() == [f"{key} {count:02d}" for key in range(6) for count in range(1, 11)]
    assert result.returncode == 0


def test_slots_that_the_settings_do_not_allow_are_told_at_once(tmp_path: Path, home: Path) -> None:
    (tmp_path / "beside.py").write_text("def describe(key, count):\n    return f'{key} {count:02d}'\n")
    script = tmp_path / "keyed.py"
    script.write_text(KEYED)
    long = ["-D", "penstock.engine=resident", "-D", "penstock.resident.slot-timeout=24 h"]
    result = run(home, "--pyflink", "-p", "2", *long, "--master", "local-cluster[1,1,1024]", str(script))
    assert "needs 2 slots of Spark at the same time, and the cluster can give it 1" in result.stderr
    assert result.returncode != 0


ENDLESS = """
import time

from penstock.datastream import SourceFunction, StreamExecutionEnvironment


class Ticks(SourceFunction):
    running = True

    def run(self, ctx):
        number = 0
        while self.running:
            ctx.collect(number)
            number += 1
            time.sleep(0.01)

    def cancel(self):
        self.running = False


env = StreamExecutionEnvironment.get_execution_environment()
env.add_source(Ticks()).map(lambda n: f"tick {n}").print()
env.execute()
"""


def test_interrupt_stops_the_job_cleanly(tmp_path: Path, home: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    process = subprocess.Popen(
        command("-p", "1", "--master", "local[2]", str(script)),
        env={**environment(home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "tick 0\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group gets it
        # Not communicate(): that would lose what has been read together with the first line.
        rest, errors = process.stdout.read(), process.stderr.read()
        process.wait(timeout=patience(60))
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert errors == ""
    assert all(line.startswith("tick ") for line in rest.splitlines())
    assert not list((home / "jobs").iterdir()), "the job's directory is left behind"


AT_INFO = """
import logging
import sys

logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
logging.info("mine")
env.from_collection([1, 2], Types.INT()).map(lambda n: n + 1, Types.INT()).print()
env.execute()
print(list(env.from_collection([1], Types.INT()).execute_and_collect()))
"""


def test_a_root_logger_at_info_hears_the_program_alone(home: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(AT_INFO)
    result = run(home, "--pyflink", str(program))
    assert (result.stdout, result.stderr) == ("root: mine\n2\n3\n[1]\n", "")
