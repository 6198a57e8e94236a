"""A contestant's processes: started in a session of their own, measured and ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PARENT, _SESSION, _USER, _SYSTEM, _RSS = 1, 3, 11, 12, 21  # fields of /proc/PID/stat behind the name


class ProcessTree:
    def __init__(self, command: list[str], environment: Mapping[str, str], log: Path, directory: Path) -> None:
        self.started = time.time()
        self._cpu: dict[int, float] = {}
        self.memory = 0  # of all members, when they were looked at last
        with open(log, "ab") as output:
            self._process = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    @property
    def cpu_seconds(self) -> float:
        return sum(self._cpu.values())

    def sample(self) -> None:
        """Remembers what each process has used so far: a process that has ended cannot be asked any more."""
        memory = 0
        for pid, fields in self._members():
            self._cpu[pid] = (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS
            memory += int(fields[_RSS]) * _PAGE
        self.memory = memory

    def largest_fork(self, text: str) -> int | None:
        """Of the members that were forked from one with this in its command line, the one that has most memory."""
        alike = {pid: fields for pid, fields in self._members() if text in _command(pid)}
        forks = [(int(fields[_RSS]), pid) for pid, fields in alike.items() if int(fields[_PARENT]) in alike]
        return max(forks)[1] if forks else None

    def kill(self) -> None:
        """Ends all members, and those that they start meanwhile."""
        for _ in range(20):
            members = [pid for pid, fields in self._members() if fields[0] != "Z"]
            if not members:
                break
            for pid in members:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            self._process.poll()
            time.sleep(0.05)
        self._process.wait()

    def _members(self) -> list[tuple[int, list[str]]]:
        found = []
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                fields = Path(entry.path, "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            if int(fields[_SESSION]) == self._process.pid:
                found.append((int(entry.name), fields))
        return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
