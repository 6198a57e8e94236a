"""`penstock run` as a user meets it: a process with a command line, two output streams and an exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Result = subprocess.CompletedProcess[str]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return tmp_path / "programs" / "job.py"


@pytest.fixture
def run(job: Path) -> Callable[..., Result]:
    """Writes the program and runs it; `{script}` in the arguments is its path."""

    def run(program: str, *arguments: str) -> Result:
        job.parent.mkdir(exist_ok=True)
        job.write_text(program)
        command = [sys.executable, "-m", "penstock.cli.main", "run"]
        command += [argument.format(script=job) for argument in arguments or ("{script}",)]
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    return run


def test_program_sees_what_python_would_show_it(run: Callable[..., Result], job: Path) -> None:
    (job.parent).mkdir()
    (job.parent / "beside.py").write_text("answer = 42\n")
    result = run(
        "import sys, beside\nprint(sys.argv, __name__, __file__, sys.path[0], beside.answer)",
        "{script}", "-p", "7", "--name", "x", "--", "--pyflink", "a b",
    )  # fmt: skip
    arguments = [str(job), "-p", "7", "--name", "x", "--", "--pyflink", "a b"]
    assert result.stdout == f"{arguments} __main__ {job} {job.parent} 42\n"
    assert (result.stderr, result.returncode) == ("", 0)


def test_future_imports_of_penstock_do_not_leak_into_the_program(run: Callable[..., Result]) -> None:
    assert run("def f(x: int): pass\nprint(f.__annotations__['x'] is int)").stdout == "True\n"


def test_what_the_program_defines_is_pickled_by_value(run: Callable[..., Result], tmp_path: Path) -> None:
    pickled = tmp_path / "pickled"
    result = run(
        "import cloudpickle\n"
        "offset = 5\n"
        "class Adder:\n"
        "    def __call__(self, x): return helper(x)\n"
        "def helper(x): return x + offset\n"
        f"open({str(pickled)!r}, 'wb').write(cloudpickle.dumps([Adder(), helper, lambda x: helper(x)]))\n"
    )
    assert result.returncode == 0, result.stderr
    loader = f"import pickle; print([f(1) for f in pickle.load(open({str(pickled)!r}, 'rb'))])"
    loaded = subprocess.run([sys.executable, "-c", loader], capture_output=True, text=True)
    assert loaded.stdout == "[6, 6, 6]\n", loaded.stderr


def test_options_reach_the_program(run: Callable[..., Result], job: Path) -> None:
    result = run(
        "from penstock.common.run_options import current_run_options\nprint(current_run_options())",
        "-p", "3", "--master", "local[3]", "--name", "my job", "-v", "--pyflink", "{script}",
    )  # fmt: skip
    for expected in (
        "parallelism=3", "master='local[3]'", "job_name='my job'", "verbose=True",
        "pyflink_imports=True", "show_status=False", f"script_path='{job}'",
    ):  # fmt: skip
        assert expected in result.stdout, result.stderr


def test_configuration_options_reach_the_program(run: Callable[..., Result]) -> None:
    result = run(
        "from penstock.common.run_options import current_run_options\n"
        "print(current_run_options().configuration)",
        "-D", "parallelism.default=2", "-Dpipeline.name=a=b", "{script}",
    )  # fmt: skip
    assert result.stdout == "{'parallelism.default': '2', 'pipeline.name': 'a=b'}\n", result.stderr


def test_unknown_configuration_option_is_refused_before_the_program_runs(run: Callable[..., Result]) -> None:
    result = run("print('ran')", "-D", "paralelism.default=2", "{script}")
    assert (result.stdout, result.returncode) == ("", 1)
    assert "parallelism.default" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-p", "0", "{script}"], "at least 1"),
        (["-p", "many", "{script}"], "at least 1"),
        (["-D", "novalue", "{script}"], "key=value"),
        (["--nmae", "x", "{script}"], "--nmae"),
        ([], "script.py"),
    ],
)
def test_wrong_usage_exits_with_2(job: Path, arguments: list[str], complaint: str) -> None:
    command = [sys.executable, "-m", "penstock.cli.main", "run", *(a.format(script=job) for a in arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert complaint in result.stderr


def test_missing_program_exits_with_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock.cli.main", "run", str(tmp_path / "nowhere.py")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr == f"penstock run: the program {tmp_path / 'nowhere.py'} does not exist\n"


@pytest.mark.parametrize(
    ("statement", "code", "stderr"),
    [("sys.exit(7)", 7, ""), ("sys.exit()", 0, ""), ("sys.exit('no input')", 1, "no input\n")],
)
def test_exit_of_the_program_is_kept(run: Callable[..., Result], statement: str, code: int, stderr: str) -> None:
    result = run(f"import sys\n{statement}")
    assert (result.returncode, result.stderr) == (code, stderr)


def test_penstock_error_shows_message_and_the_users_line_only(run: Callable[..., Result], job: Path) -> None:
    result = run(
        "from penstock.common.errors import ProgramError\n"
        "def build():\n"
        "    raise ProgramError('the key is missing')\n"
        "build()\n"
    )
    expected = f"penstock: the key is missing\n  at {job}:3: raise ProgramError('the key is missing')\n"
    assert (result.returncode, result.stderr) == (1, expected)


def test_penstock_error_shows_the_whole_traceback_with_v(run: Callable[..., Result]) -> None:
    result = run(
        "from penstock.common.errors import ProgramError\nraise ProgramError('the key is missing')",
        "-v", "{script}",
    )  # fmt: skip
    assert result.returncode == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert "penstock/cli/run.py" in result.stderr.replace(os.sep, "/")


def test_failed_job_shows_only_its_message(run: Callable[..., Result]) -> None:
    """It names the operator and the user's line itself; the line of execute() would only distract."""
    result = run(
        "from penstock.common.errors import JobExecutionError\n"
        "try:\n"
        "    1 / 0\n"
        "except ZeroDivisionError as cause:\n"
        "    raise JobExecutionError('operator Map failed') from cause\n"
    )
    assert (result.returncode, result.stderr) == (1, "penstock: operator Map failed\n")


def test_the_programs_own_error_has_pythons_traceback(run: Callable[..., Result], job: Path) -> None:
    program = "def f():\n    return {}['k']\ntry:\n    f()\nexcept KeyError:\n    f()\n"
    result = run(program)
    plain = subprocess.run([sys.executable, str(job)], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, plain.stderr)


def test_syntax_error_has_pythons_message(run: Callable[..., Result], job: Path) -> None:
    result = run("def f(:\n    pass\n")
    plain = subprocess.run([sys.executable, str(job)], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, plain.stderr)


def test_missing_pyflink_module_is_explained_at_the_import(run: Callable[..., Result], job: Path) -> None:
    result = run("x = 1\nimport pyflink.no_such_module\n", "--pyflink", "{script}")
    lines = result.stderr.splitlines()
    assert result.returncode == 1
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{job}", line 2, in <module>'
    assert lines[-1].startswith("ModuleNotFoundError: Penstock does not have the module")
    assert "penstock/cli" not in result.stderr


REPORT = (
    "from penstock.common.job_status import JobStatus\n"
    "from penstock.control.progress import JobProgress, progress_listener\n"
    "progress_listener()(JobProgress(JobStatus.{state}, 1, 10, 10, 5.0, None))\n"
)


def test_interrupt_that_stopped_a_job_is_a_success(run: Callable[..., Result]) -> None:
    result = run(REPORT.format(state="RUNNING") + "raise KeyboardInterrupt")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_interrupt_before_any_job_is_no_success(run: Callable[..., Result]) -> None:
    assert run("raise KeyboardInterrupt").returncode == 130


def test_interrupt_after_a_failed_job_is_no_success(run: Callable[..., Result]) -> None:
    assert run(REPORT.format(state="FAILED") + "raise KeyboardInterrupt").returncode == 130


def test_pyflink_imports_fail_without_the_option(run: Callable[..., Result]) -> None:
    result = run("import importlib.util\nprint(importlib.util.find_spec('pyflink') is None)")
    assert result.stdout == "True\n"


@pytest.mark.parametrize("option", ["--ui", "--take-over"])
def test_what_a_detached_job_cannot_have_is_refused(run: Callable[..., Result], option: str) -> None:
    refused = run("raise SystemExit(3)", "-d", "--job-id", "a" * 32, option, "{script}")
    assert refused.returncode == 1 and f"{option} is for a job of this process" in refused.stderr
