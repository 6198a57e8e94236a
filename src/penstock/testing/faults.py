"""Crash points: kill or freeze the driver, the JVM or a Python worker at a chosen moment of a real job.

Armed by an environment variable, which driver, JVM and workers inherit:

    PENSTOCK_CRASH="after-plan:2"                        the second time that a process passes the point
    PENSTOCK_CRASH="during-level:5:jvm@/dir/passes"      the fifth pass of all processes together, which kills the JVM

After the second colon stands who dies: `self` (whoever passes the point, the default), `jvm` or `driver`; or who is
stopped (SIGSTOP) until somebody wakes it up: `freeze-jvm`, or `freeze` for all processes of the job. With a file after
the @ passes are counted there, across processes: exactly one of them crashes, whoever starts again. Several crashes
are separated by commas. Without the variable nothing of this module is loaded.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

VARIABLE = "PENSTOCK_CRASH"
DRIVER_POINTS = (
    "after-plan",
    "before-epoch-record",
    "after-epoch-record",
    "before-commit",
    "during-commit",
    "after-commit",
    "savepoint-metadata",
    "during-recovery",
)
WORKER_POINTS = ("during-level-0", "during-level", "after-state", "savepoint-part")
RESIDENT_POINTS = ("during-deploy", "during-alignment", "before-durable", "before-report")  # of resident tasks
END_POINTS = ("after-finished-record", "after-removal")  # of the driver, when all is committed
POINTS = DRIVER_POINTS + WORKER_POINTS + RESIDENT_POINTS + END_POINTS
VICTIMS = ("self", "jvm", "driver", "freeze", "freeze-jvm")


class Point(Protocol):
    """Says that a point is passed now."""

    def __call__(self, name: str) -> None: ...


@dataclass
class CrashPlan:
    """Which pass of which point kills whom."""

    point: str
    number: int = 1
    victim: str = "self"
    ledger: Path | None = None
    passed: int = field(default=0, init=False)

    @staticmethod
    def parse(text: str) -> CrashPlan:
        place, _, ledger = text.partition("@")
        point, number, victim, *rest = [*place.split(":"), *("", "1", "self")[place.count(":") + 1 :]]
        if rest or point not in POINTS or victim not in VICTIMS or not number.isdigit():
            raise ValueError(
                f"{VARIABLE}={text!r} is not POINT[:NUMBER[:VICTIM]][@FILE]; points are "
                f"{', '.join(POINTS)}; victims are {', '.join(VICTIMS)}"
            )
        return CrashPlan(point, int(number), victim, Path(ledger) if ledger else None)

    def pass_by(self, name: str) -> None:
        if name == self.point and self._count() == self.number:
            strike(self.victim)

    def _count(self) -> int:
        if self.ledger is None:
            self.passed += 1
            return self.passed
        with open(self.ledger, "ab", buffering=0) as file:
            file.write(b".")  # appended atomically: every pass gets a length of its own
            return file.tell()


def arm() -> None:
    """Puts the crash points into this process, if the environment asks for one."""
    text = os.environ.get(VARIABLE, "")
    for part in filter(None, text.split(",")):
        place_points(CrashPlan.parse(part).pass_by)


def place_points(point: Point) -> None:
    """Wraps the methods around which the points lie."""
    _place_in_epochs(point)
    _place_in_workers(point)
    _place_in_resident_tasks(point)
    _place_in_savepoints(point)
    _place_at_the_end(point)


def _place_in_epochs(point: Point) -> None:
    from penstock.connectors.delta.sink import DeltaCommitter
    from penstock.connectors.files import commit as file_commit
    from penstock.connectors.jdbc.committing import EpochCommitter
    from penstock.connectors.kafka.transactions import TransactionLane
    from penstock.control.epoch_completion import EpochCompletion
    from penstock.control.epoch_store import EpochStore
    from penstock.control.micro_batches import MicroBatches

    def latest_offset(original: Callable[..., Any], self: Any, start: dict[str, Any]) -> Any:
        end = original(self, start)
        if end != start:
            point("after-plan")
        return end

    def put(original: Callable[..., Any], self: Any, record: Any) -> None:
        point("before-epoch-record")
        original(self, record)
        point("after-epoch-record")

    def publish(original: Callable[..., Any], self: Any) -> None:
        anything = bool(self._computed)
        if anything:
            point("before-commit")
        original(self)
        if anything:
            point("after-commit")

    def rename(original: Callable[..., Any], hidden: str, final: str) -> Any:
        renamed = original(hidden, final)
        point("during-commit")
        return renamed

    def in_transaction(original: Callable[..., Any], self: Any, *arguments: Any) -> Any:
        result = original(self, *arguments)
        point("during-commit")  # the records are on their way; or the transaction is committed, and nobody knows
        return result

    def recover(original: Callable[..., Any], self: Any) -> Any:
        record = original(self)
        if record is not None:
            point("during-recovery")
        return record

    _wrap(MicroBatches, "latest_offset", latest_offset)
    _wrap(EpochCompletion, "publish", publish)
    _wrap(EpochCompletion, "_recover", recover)
    _wrap(EpochStore, "put", put)
    _wrap(file_commit, "_rename", rename)
    _wrap(EpochCommitter, "_commit_once", in_transaction)
    _wrap(EpochCommitter, "commit", in_transaction)
    _wrap(DeltaCommitter, "_commit_once", in_transaction)
    _wrap(TransactionLane, "_send", in_transaction)
    _wrap(TransactionLane, "_commit", in_transaction)


def _place_in_workers(point: Point) -> None:
    from penstock.runtime.container import Container
    from penstock.runtime.state_log import StateLog

    def run(original: Callable[..., Any], self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        point("during-level-0" if self._level == 0 else "during-level")

    def append(original: Callable[..., Any], self: Any, *arguments: Any) -> None:
        original(self, *arguments)
        point("after-state")

    _wrap(Container, "_run", run)
    _wrap(StateLog, "append", append)


def _place_in_resident_tasks(point: Point) -> None:
    from penstock.engines.resident.barriers import Alignment
    from penstock.engines.resident.epochs import Epochs
    from penstock.engines.resident.hosted_subtask import HostedSubtask
    from penstock.engines.resident.messenger import Messenger

    def plan(original: Callable[..., Any], self: Any, generation: int) -> Any:
        message = original(self, generation)
        if message is not None:
            point("after-plan")
        return message

    def opened(original: Callable[..., Any], self: Any) -> Any:
        point("during-deploy")
        return original(self)

    def receive(original: Callable[..., Any], self: Any, channel: int, element: Any) -> Any:
        instructions = original(self, channel, element)
        if self.aligning:
            point("during-alignment")
        return instructions

    def durable(original: Callable[..., Any], self: Any, messages: Any) -> Any:
        reports = any(files is not None for _, files in messages)
        if reports:
            point("before-durable")
        told = original(self, messages)
        if reports:
            point("before-report")
        return told

    _wrap(Epochs, "plan", plan)
    _wrap(HostedSubtask, "_opened", opened)
    _wrap(Alignment, "receive", receive)
    _wrap(Messenger, "_durable", durable)


def _place_in_savepoints(point: Point) -> None:
    from penstock.runtime.savepoint import METADATA
    from penstock.storage import local

    def bring_to_disk(original: Callable[..., Any], file: Any, name: str) -> None:
        # All is written, some of it is still in this process, and the file does not have its name yet.
        if name == METADATA:
            point("savepoint-metadata")
        elif name.startswith("level-") or name.endswith(".arrow"):
            point("savepoint-part")
        original(file, name)

    _wrap(local, "bring_to_disk", bring_to_disk)


def _place_at_the_end(point: Point) -> None:
    from penstock.control.finished_jobs import FinishedJobs
    from penstock.control.job_home import JobHome

    def put(original: Callable[..., Any], self: Any, record: dict[str, Any]) -> None:
        original(self, record)
        point("after-finished-record")

    def remove(original: Callable[..., Any], self: Any) -> None:
        original(self)
        point("after-removal")

    _wrap(FinishedJobs, "put", put)
    _wrap(JobHome, "remove", remove)


def _wrap(owner: Any, name: str, around: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        return around(original, *arguments, **named)

    setattr(owner, name, wrapped)


def strike(victim: str) -> None:
    """`kill -9` or `kill -STOP`; when it hits somebody else, this process sees no more than a real one would."""
    if victim == "self":
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)  # the signal may take a moment to arrive, and nothing may happen in it
    java = _jvm_of(os.getpid())
    if victim == "freeze-jvm":
        os.kill(java, signal.SIGSTOP)
    elif victim == "freeze":
        freeze([parent_of(java), java, *descendants_of(java)])
    else:
        os.kill(java if victim == "jvm" else parent_of(java), signal.SIGKILL)


def freeze(processes: Iterable[int]) -> None:
    """This process, if it is one of them, comes last: nobody else would stop the others."""
    for process in sorted(processes, key=lambda process: process == os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)


def _jvm_of(process: int) -> int:
    """The JVM that this process has started (driver) or that has started this process (worker)."""
    java = [child for child in descendants_of(process) if _command(child) == "java"]
    while not java and process > 1:
        process = parent_of(process)
        java = [process] if _command(process) == "java" else []
    if not java:
        raise RuntimeError("there is no JVM to kill: crash points work where driver, JVM and workers share a machine")
    return java[0]


def descendants_of(process: int) -> list[int]:
    """Children, their children and so on, found in /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            children.setdefault(parent_of(int(entry.name)), []).append(int(entry.name))
    found: list[int] = []
    waiting = [process]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.append(child)
            waiting.append(child)
    return found


def parent_of(process: int) -> int:
    """0 when there is no such process any more."""
    fields = _stat(process)
    return int(fields[1]) if fields else 0


def _stat(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""
