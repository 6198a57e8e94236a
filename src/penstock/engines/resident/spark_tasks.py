"""Resident tasks on Spark: one Spark job with one task for each slot, so that a lost one comes back alone.

Spark's barrier mode would fail all of them together, and start again after seconds (docs/adr/0018). On a local Spark of
ours, which has places enough, a task whose job has ended waits a while for the next job of the process.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from pyspark import SparkContext

from penstock.engines.resident.messages import TaskSettings
from penstock.engines.resident.task import run_task
from penstock.engines.resident.waiting_room import WaitingRoom, wait_in
from penstock.engines.spark.query_failure import message_of_job
from penstock.engines.spark.session import places_of, settings_of
from penstock.engines.spark.worker_modules import prepare_worker

_END_SECONDS = 2.0
_numbers = itertools.count()
_tasks: WeakKeyDictionary[SparkContext, SparkTasks] = WeakKeyDictionary()
_lock = threading.Lock()


def tasks_of(context: SparkContext) -> SparkTasks:
    with _lock:
        if context not in _tasks:
            _tasks[context] = SparkTasks(context)
        return _tasks[context]


class SparkTasks:
    """The tasks of all jobs of the process."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._room: WaitingRoom | None = None
        if places_of(context) and settings_of(context).get("spark.python.worker.reuse", "true") == "true":
            with contextlib.suppress(OSError):  # a directory for temporary files that has too long a name
                self._room = WaitingRoom(seats=context.defaultParallelism)
        self._dismissed: dict[int, SparkTask] = {}
        self._lock = threading.Lock()

    def start(self, job_id: str, slot: int, settings: TaskSettings) -> SparkTask:
        """By a task that waits, if there is one."""
        return self._one_that_waits(slot, settings) or SparkTask(self._context, job_id, slot, settings, self._room)

    def _one_that_waits(self, slot: int, settings: TaskSettings) -> SparkTask | None:
        with self._lock:
            for number in self._waiting():
                task = self._dismissed.pop(number, None)
                if task is not None and self._room is not None and self._room.send_off(number, (slot, settings)):
                    return task
        return None

    def _waiting(self) -> list[int]:
        return [] if self._room is None else self._room.waiting()

    def dismiss(self, tasks: list[SparkTask]) -> None:
        """Their job is over, and does not wait for them."""
        with self._lock:
            self._dismissed.update((task.number, task) for task in tasks if not task.cancelled)
        threading.Thread(target=self._see_ended, args=(tasks,), name="penstock-ending-tasks", daemon=True).start()

    def _see_ended(self, tasks: list[SparkTask]) -> None:
        for task in tasks:
            ended = task.join(_END_SECONDS)
            with self._lock:
                stuck = not ended and task.number in self._dismissed and task.number not in self._waiting()
                if ended or stuck:
                    self._dismissed.pop(task.number, None)
            if stuck:
                task.cancel()


class SparkTask:
    """One Spark job with one task, and the thread that waits for it."""

    def __init__(
        self, context: SparkContext, job_id: str, slot: int, settings: TaskSettings, room: WaitingRoom | None
    ) -> None:
        self._context = context
        self.number = next(_numbers)
        self._group = f"penstock-{job_id}-{slot}-{self.number}"
        self._slot = slot
        self._settings = settings
        self._room = None if room is None else room.address
        self.why: str | None = None
        self.cancelled = False
        self._thread = threading.Thread(target=self._run, name=self._group, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        settings, room, number = self._settings, self._room, self.number

        def host(slots: Iterable[int]) -> None:
            for slot in slots:  # to its end, although there is one only: Spark uses no worker again that leaves input
                work: tuple[int, TaskSettings] | None = slot, settings
                while work is not None:
                    run_task(*work, prepare_worker)
                    work = None if room is None else wait_in(room, number)

        try:
            self._context.setJobGroup(self._group, f"slot {self._slot} of a resident job", interruptOnCancel=True)
            self._context.parallelize([self._slot], 1).foreachPartition(host)
            self.why = "its task has ended"
        except Exception as error:
            self.why = message_of_job(error)

    def cancel(self) -> None:
        self.cancelled = True
        with contextlib.suppress(Exception):  # Spark itself may be ending
            self._context.cancelJobGroup(self._group)

    def join(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()
