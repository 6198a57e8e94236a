"""Slow contestants are cut off, and their rate is the one at which they were going."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest
from benchmarks import settings
from benchmarks.digests import hashes_of_lines, is_part_of
from benchmarks.process_tree import ProcessTree
from benchmarks.progress import FlinkCounter, SparkCommits, deadline, partial_rate
from tests.patience import patience

WARM, RUN = settings.WARM_UP_SECONDS, settings.RUN_SECONDS


def test_the_warm_up_is_not_in_a_partial_rate() -> None:
    assert partial_rate([(10.0, 5), (10.0 + WARM, 100), (15.0 + WARM, 600)]) == pytest.approx(100)


def test_a_rate_needs_two_signs_of_progress() -> None:
    assert partial_rate([]) is None
    assert partial_rate([(10.0, 500)]) is None


def test_who_is_slow_is_cut_off_and_who_is_nearly_done_may_finish() -> None:
    assert deadline([], 5.0, 1000) == 5.0 + settings.START_SECONDS
    assert deadline([(10.0, 1), (11.0, 100)], 5.0, 1000) == 10.0 + WARM + RUN
    assert deadline([(10.0, 1), (11.0, 900)], 5.0, 1000) == 10.0 + settings.FINISH_SECONDS


def test_spark_is_as_far_as_its_commits(tmp_path: Path) -> None:
    progress = SparkCommits(tmp_path, 50.0)
    progress.look(1.0)
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / "0").touch()
    (tmp_path / "commits" / ".0.crc").touch()
    progress.look(2.0)
    progress.look(3.0)
    (tmp_path / "commits" / "1").touch()
    progress.look(4.0)
    assert progress.points == [(2.0, 50.0), (4.0, 100.0)]


@pytest.fixture
def flink() -> Iterator[HTTPServer]:
    class Handler(BaseHTTPRequestHandler):
        counts = (7, 100)

        def do_GET(self) -> None:
            job = {"vertices": [{"metrics": {"read-records": count}} for count in self.counts]}
            answer = {"jobs": [{"jid": "abc"}]} if self.path == "/jobs/overview" else job
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("localhost", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("case", "contestant", "count"),
    [("tumble", "pyflink_thread", 100), ("udf_map", "pyflink_thread", 7), ("tumble", "flink_sql", 7)],
)
def test_flink_counts_where_every_record_is_seen(flink: HTTPServer, case: str, contestant: str, count: int) -> None:
    progress = FlinkCounter(flink.server_port, case, contestant)
    progress.look(1.0)
    progress.look(9.0)
    assert progress.points == [(1.0, count)]


def test_no_flink_is_no_progress() -> None:
    progress = FlinkCounter(1, "tumble", "pyflink_thread")
    progress.look(1.0)
    assert progress.points == []


def test_a_part_of_the_right_result_is_told_from_a_wrong_one() -> None:
    right = np.sort(hashes_of_lines(["a", "b", "b", "c"]))
    for part in ([], ["b"], ["b", "b", "c"]):
        assert is_part_of(hashes_of_lines(part), right)
    for wrong in (["d"], ["a", "a"], ["b", "b", "b"]):
        assert not is_part_of(hashes_of_lines(wrong), right)


def test_all_processes_of_a_contestant_end_also_those_in_a_group_of_their_own(tmp_path: Path) -> None:
    program = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], process_group=0)\n"
        "open('child', 'w').write(str(child.pid)); os.rename('child', 'pid'); time.sleep(600)\n"
    )
    tree = ProcessTree([sys.executable, "-c", program], os.environ, tmp_path / "log", tmp_path)
    try:
        end = time.monotonic() + patience(20)
        while not (tmp_path / "pid").exists() and time.monotonic() < end:
            time.sleep(0.01)
        child = int((tmp_path / "pid").read_text())
    finally:
        tree.kill()
    assert tree.exit_code == -signal.SIGKILL
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().rpartition(") ")[2].startswith("Z")


def test_the_worker_to_kill_is_a_fork_and_not_who_only_names_it(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\n"
        "if sys.argv[1:] == ['serve']:\n"
        "    child = os.fork()\n"
        "    if child: open('pid.new', 'w').write(str(child)); os.rename('pid.new', 'pid')\n"
        "else:\n"
        "    import subprocess; filling = b'x' * 50_000_000\n"
        "    subprocess.Popen([sys.executable, __file__, 'serve'])\n"
        "time.sleep(600)\n"
    )
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, str(tmp_path / "program.py"), "module=program.py serve"]
    tree = ProcessTree(command, os.environ, tmp_path / "log", tmp_path)
    try:
        end = time.monotonic() + patience(20)
        while not (tmp_path / "pid").exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert tree.largest_fork("/program.py serve") == int((tmp_path / "pid").read_text())
    finally:
        tree.kill()
