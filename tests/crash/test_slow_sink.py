"""A slow sink slows its source down: memory stays bounded, and nothing fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.crash.killed_job import PENSTOCK, members_of_session, signal_session
from tests.patience import patience

PROGRAM = Path(__file__).with_name("slow_sink_job.py")
MINUTES = float(os.environ.get("PENSTOCK_SOAK_MINUTES", 10))
GROWTH = 1.3  # of the last quarter's memory over that of the second
_LOOK_SECONDS = 5.0


def megabytes_by_program(session: int) -> dict[str, float]:
    """Java takes its whole heap before it cleans up, so that Python tells more."""
    found = {"java": 0.0, "python": 0.0}
    for member in members_of_session(session):
        try:
            pages = int(Path(f"/proc/{member.pid}/statm").read_text().split()[1])
        except OSError:
            continue  # it has ended meanwhile
        found["java" if member.command == "java" else "python"] += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return found


@pytest.mark.crash
@pytest.mark.soak
@pytest.mark.parametrize("engine", ["resident", "micro-batch"])
def test_memory_is_bounded_behind_a_slow_sink(tmp_path: Path, engine: str) -> None:
    home, came_out, log = tmp_path / "home", tmp_path / "came-out", tmp_path / "log"
    options = {"penstock.engine": engine, "execution.checkpointing.interval": "10 s"}
    job_id = "5" * 32
    with log.open("w") as output:
        process = subprocess.Popen(
            [PENSTOCK, "run", "--master", "local[2]", "--job-id", job_id]
            + [f"-D{key}={value}" for key, value in options.items()]
            + [str(PROGRAM), str(came_out)],
            env={**os.environ, "PENSTOCK_HOME": str(home)},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    memory: list[dict[str, float]] = []
    try:
        deadline = time.monotonic() + patience(120)
        while not came_out.exists():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-3000:]
            time.sleep(0.2)
        began = time.monotonic()
        while time.monotonic() < began + MINUTES * 60:
            assert process.poll() is None, log.read_text()[-3000:]
            memory.append(megabytes_by_program(process.pid))
            if len(memory) % 12 == 0:
                print(f"{engine}, {len(memory) * _LOOK_SECONDS / 60:.0f} min: {memory[-1]}", flush=True)
            time.sleep(_LOOK_SECONDS)
        lines = came_out.read_text().splitlines()
        described = json.loads(subprocess.run(
            [PENSTOCK, "info", "--json", job_id],
            env={**os.environ, "PENSTOCK_HOME": str(home)}, capture_output=True, check=True,
        ).stdout)  # fmt: skip
        process.send_signal(signal.SIGINT)
        process.wait(patience(120))
    finally:
        signal_session(process.pid, signal.SIGKILL)
    counts = described["checkpoints"]["counts"]
    print(f"{engine}: {len(lines) * 100} records came out, checkpoints {counts}, {described['attempts']}")
    assert len(lines) > MINUTES * 60 * 0.3, "it has hardly moved"
    assert len(described["attempts"]) == 1 and counts["failed"] == 0 and counts["completed"] > 0
    quarter = max(1, len(memory) // 4)
    for program, growth in (("python", GROWTH), ("java", 2 * GROWTH)):
        early = sum(each[program] for each in memory[quarter : 2 * quarter])
        late = sum(each[program] for each in memory[-quarter:])
        assert late < growth * early, (program, memory)
