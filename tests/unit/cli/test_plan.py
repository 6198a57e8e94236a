"""`penstock plan`: the graph of a program, which does not run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import sys
from penstock.datastream import StreamExecutionEnvironment
print("building", sys.argv[1:])
env = StreamExecutionEnvironment.get_execution_environment()
try:
    env.from_collection([1, 2]).key_by(lambda n: n).reduce(max).name("largest").print()
    env.execute("first")
except Exception:
    print("nobody comes here")
print("nor here")
"""


def plan(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "penstock.cli.main", "plan", *words], capture_output=True, text=True)


def test_the_graph_of_the_first_job_and_nothing_else_is_printed(tmp_path: Path) -> None:
    program = tmp_path / "job.py"
    program.write_text(_PROGRAM)
    done = plan("--json", "-p", "3", "-D", "pipeline.max-parallelism=12", str(program), "--day", "1")
    nodes = {node["description"]: node for node in json.loads(done.stdout)["plan"]["nodes"]}
    assert nodes["largest"]["parallelism"] == 3 and nodes["largest"]["inputs"][0]["ship_strategy"] == "HASH"
    assert done.stderr == "building ['--day', '1']\n" and done.returncode == 0
    for_people = plan(str(program), "--day", "1").stdout
    assert "largest" in for_people and "(hash)" in for_people and f"{program}:" in for_people


def test_a_program_without_a_job_and_one_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("x = 1\n")
    assert "has no job" in plan(str(tmp_path / "nothing.py")).stderr
    missing = plan(str(tmp_path / "missing.py"))
    assert (missing.returncode, "does not exist" in missing.stderr) == (2, True)
