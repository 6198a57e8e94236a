"""A long-running task: hosts subtasks of all levels in one thread, and exchanges their chunks with other tasks.

Later levels run first, and a subtask runs only while what it sends has room: so chunks never wait for each other in a
circle. What belongs to a generation goes with it; the process stays for the next one.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import time
from collections.abc import Callable

from penstock.control.work import Place
from penstock.engines.resident.barriers import Barrier
from penstock.engines.resident.channels import BrokenConnectionError, Connection, Listener
from penstock.engines.resident.driver_connection import DriverConnection
from penstock.engines.resident.frames import Frame, Greeting
from penstock.engines.resident.hosted_subtask import HostedSubtask, OpeningError
from penstock.engines.resident.messages import (
    CONTROL_LEVEL,
    Broken,
    Deploy,
    Drop,
    Dropped,
    End,
    FromDriver,
    Hello,
    Reported,
    RunEpoch,
    TaskSettings,
)
from penstock.engines.resident.messenger import Messenger
from penstock.engines.resident.run_keys import NotAuthenticatedError, RunKeys
from penstock.engines.resident.state_files import state_files_at, why_no_state_place
from penstock.engines.resident.traffic import Traffic
from penstock.runtime.blueprint import JobSettings
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.failure import failure_of
from penstock.runtime.pickling import loads
from penstock.runtime.report import report_row

_CONNECT_SECONDS = 10.0
_STEPS_BETWEEN_LOOKS = 16  # at the sockets, however much work there is
_LONGEST_SECONDS = 3600.0  # of waiting: timers may be set for moments of which select() does not know
_SLOW_SECONDS = 0.1  # of a round of steps, most of which take milliseconds
_CONTROL = "control"
_BELL = "bell"


class Generation:
    """Everything that a deployment has made; thrown away as a whole."""

    def __init__(
        self,
        deploy: Deploy,
        slot: int,
        selector: selectors.BaseSelector,
        keys: RunKeys,
        clock: Clock = system_clock,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.number = deploy.generation
        self.buffer_seconds = deploy.buffer_timeout_ms / 1000
        self.files = state_files_at(deploy.state, f"{deploy.deployment}-{slot}")
        self.hosted: dict[Place, HostedSubtask] = {}
        self.traffic = Traffic(deploy, slot, self.hosted, selector, keys)
        try:
            neighbours = frozenset(subtask for _, subtask in deploy.places if deploy.slot_of(subtask) == slot)
            for level, subtask in reversed(deploy.places):  # those at the end of the graph open first
                if deploy.slot_of(subtask) == slot:
                    self.hosted[level, subtask] = HostedSubtask(
                        deploy.levels[level],
                        subtask,
                        self.files,
                        deploy.locations.get((level, subtask)),
                        deploy.union_lists.get(level, {}),
                        deploy.exactly_once,
                        clock,
                        wake,
                        neighbours,
                    )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.traffic.close()
        for subtask in self.hosted.values():
            subtask.close()
        self.files.close()


class ResidentTask:
    """The main thread of a slot."""

    def __init__(
        self, slot: int, settings: TaskSettings, prepare: Callable[[JobSettings], None], clock: Clock = system_clock
    ) -> None:
        self._slot = slot
        self._settings = settings
        self._prepare = prepare
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._generation: Generation | None = None
        self._newest = 0  # generation that was heard of
        self._early: dict[Connection, list[Frame]] = {}  # of tasks that were deployed a moment before this one
        self._flush_due: float | None = None
        self._ended = False
        greeting = Greeting(0, CONTROL_LEVEL, slot)
        self._control = DriverConnection(settings.driver, settings.keys, greeting, _CONNECT_SECONDS)
        self._selector.register(self._control, selectors.EVENT_READ, _CONTROL)
        self._bell, self._rope = socket.socketpair()  # threads of operators ring when they have something
        self._rope.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, _BELL)
        host = self._control.host
        ports = range(settings.ports[0], settings.ports[1] + 1)
        self._listener = Listener(host, ports, self._selector, settings.keys)
        self._messenger = Messenger(self._control, settings.beat_seconds)
        self._messenger.tell(Hello(slot, os.getpid(), (host, self._listener.port), why_no_state_place(settings.state)))

    def run(self) -> None:
        """Until the driver says so, or is gone."""
        try:
            self._hear()  # something may have come with the end of the handshake
            while not self._ended:
                self._serve(self._patience())
                self._work_safely()
        finally:
            self._drop()
            self._messenger.close()
            self._listener.close()
            self._control.close()
            self._bell.close()
            self._rope.close()
            self._selector.close()

    # -- the driver --------------------------------------------------------------------------------------------

    def _serve(self, seconds: float | None) -> None:
        """A step like any other: functions are opened and closed in it, and sinks hear of commits."""
        ready = self._selector.select(seconds)
        self._messenger.entering()
        for key, events in ready:
            if key.data == _CONTROL:
                self._hear()
            elif key.data == _BELL:
                self._heed_bell()
            elif key.data is self._listener:
                self._listener.accept()
            elif not key.data.closed:
                self._serve_peer(key.data, events)
        self._messenger.leaving()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # it rings already, or the task is over
            self._rope.send(b"!")

    def _heed_bell(self) -> None:
        self._bell.recv(1 << 12)
        if self._generation is not None:
            for hosted in self._generation.hosted.values():
                hosted.look_at_clock()

    def _hear(self) -> None:
        frames = self._control.receive()
        if frames is None:
            self._ended = True  # the driver is gone: nobody would commit what this task does
        for frame in frames or ():
            self._obey(loads(frame.payload))

    def _obey(self, message: FromDriver) -> None:
        match message:
            case Deploy():
                self._deploy(message)
            case RunEpoch():
                self._run_epoch(message)
            case Drop():
                self._drop()
                self._messenger.tell(Dropped())
            case End():
                self._ended = True

    def _deploy(self, deploy: Deploy) -> None:
        self._drop()
        self._newest = deploy.generation
        try:
            self._prepare(deploy.levels[0].settings)
            secret = self._settings.keys
            self._generation = Generation(deploy, self._slot, self._selector, secret, self._clock, self._ring)
        except Exception as error:  # of user code in open(), or a snapshot that cannot be read: as in an epoch
            report = report_row(error.report).data if isinstance(error, OpeningError) else None
            self._messenger.tell(Broken(deploy.generation, "a subtask could not be opened", failure_of(error), report))
            return
        early, self._early = self._early, {}
        for connection, frames in early.items():
            connection.pause(False)
            self._take(connection, frames)

    def _run_epoch(self, message: RunEpoch) -> None:
        generation = self._generation
        if generation is None or message.generation != generation.number:
            return
        for (_, subtask), hosted in generation.hosted.items():
            hosted.hear_commit(message.committed)
            if not hosted.channels:
                assignments = message.assignments.get(subtask, {}) if hosted.place[0] == 0 else {}
                hosted.run_epoch(assignments, Barrier(message.epoch, message.note))

    def _drop(self) -> None:
        generation, self._generation = self._generation, None
        self._flush_due = None
        if generation is not None:
            generation.close()

    # -- other tasks -------------------------------------------------------------------------------------------

    def _serve_peer(self, connection: Connection, events: int) -> None:
        try:
            frames = connection.serve(events)
        except NotAuthenticatedError:
            connection.close()
        except BrokenConnectionError as error:
            self._lost(connection, error)
        else:
            if connection.incoming and connection.greeting is not None:
                self._take(connection, frames)

    def _take(self, connection: Connection, frames: list[Frame]) -> None:
        assert connection.greeting is not None
        number, generation = connection.greeting.generation, self._generation
        if generation is not None and number == generation.number:
            generation.traffic.receive(connection, frames)
        elif number > self._newest:
            connection.pause(True)
            self._early.setdefault(connection, []).extend(frames)
        else:
            connection.close()  # of a process that does not know that everything has begun again

    def _lost(self, connection: Connection, error: BrokenConnectionError) -> None:
        connection.close()
        self._early.pop(connection, None)
        if self._generation is not None and self._generation.traffic.owns(connection):
            self._end_generation(self._generation, error)

    def _end_generation(self, generation: Generation, error: BrokenConnectionError) -> None:
        """Whatever it computed could not be sent; the driver begins the next one."""
        self._drop()
        self._messenger.tell(Broken(generation.number, f"a connection between two tasks broke: {error}"))

    # -- work --------------------------------------------------------------------------------------------------

    def _patience(self) -> float | None:
        """How long nothing is to be done unless something arrives."""
        generation = self._generation
        if generation is None:
            return None
        wake: int | None = None
        for hosted in generation.hosted.values():
            if hosted.has_work and generation.traffic.has_room(hosted):
                return 0.0
            if hosted.next_wake is not None and (wake is None or hosted.next_wake < wake):
                wake = hosted.next_wake
        moments = [] if wake is None else [(wake - self._clock()) / 1000]
        if self._flush_due is not None:
            moments.append(self._flush_due - time.monotonic())
        return min(max(0.0, min(moments)), _LONGEST_SECONDS) if moments else None

    def _work_safely(self) -> None:
        """Failures of user code are in reports; any other ends the attempt, which says more than a dead process."""
        generation = self._generation
        if generation is None:
            return
        try:
            self._work(generation)
        except BrokenConnectionError as error:
            self._end_generation(generation, error)
        except Exception as error:
            self._drop()
            self._messenger.tell(Broken(generation.number, "a task failed", failure_of(error)))

    def _work(self, generation: Generation) -> None:
        """The subtasks at the end of the graph first: they make room."""
        self._messenger.entering()
        began, now = time.monotonic(), self._clock()
        for hosted in generation.hosted.values():
            if hosted.next_wake is not None and hosted.next_wake <= now:
                hosted.advance()
                generation.traffic.send_rows(hosted)
            self._run(generation, hosted, 1 if hosted.place[0] == 0 else _STEPS_BETWEEN_LOOKS)
        self._flush(generation, time.monotonic() - began)
        self._messenger.leaving()

    def _run(self, generation: Generation, hosted: HostedSubtask, steps: int) -> None:
        traffic = generation.traffic
        while hosted.has_work and steps:
            if not traffic.has_room(hosted):
                hosted.pressure.press()
                return
            hosted.pressure.release()
            steps -= 1
            ended = hosted.step()
            traffic.send_rows(hosted)
            if ended is not None:
                traffic.send_barrier(hosted, ended.barrier)
                report = Reported(generation.number, ended.barrier.epoch, hosted.place, ended.report)
                self._messenger.tell(report, after=generation.files)
        if hosted.channels:
            traffic.look_at_room(hosted.place[0])

    def _flush(self, generation: Generation, worked_seconds: float) -> None:
        """Records wait for their chunk to become full, but not longer than the buffer timeout.

        Where operators are very slow they leave at once, because the next round would be as long.
        """
        waiting = [hosted for hosted in generation.hosted.values() if hosted.unflushed]
        if not waiting or generation.buffer_seconds < 0:
            self._flush_due = None
            return
        if self._flush_due is None:
            self._flush_due = time.monotonic() + generation.buffer_seconds
        if time.monotonic() >= self._flush_due or worked_seconds > _SLOW_SECONDS:
            self._flush_due = None
            for hosted in waiting:
                hosted.flush()
                generation.traffic.send_rows(hosted)


def run_task(slot: int, settings: TaskSettings, prepare: Callable[[JobSettings], None]) -> None:
    ResidentTask(slot, settings, prepare).run()
