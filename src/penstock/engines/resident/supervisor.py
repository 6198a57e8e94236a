"""The driver's end of the control connections: who is there, who is silent, and what they say."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from penstock.engines.resident.channels import Address, BrokenConnectionError, Connection, Listener
from penstock.engines.resident.frames import MESSAGE, Frame
from penstock.engines.resident.messages import Beat, FromDriver, FromTask, Hello, TaskSettings
from penstock.engines.resident.run_keys import NotAuthenticatedError, RunKeys
from penstock.engines.resident.task_host import TaskHost
from penstock.runtime.pickling import dumps_on_driver, loads

_WAKE = "wake"


@dataclass
class Member:
    """The task that holds a slot."""

    connection: Connection
    process: int
    address: Address
    blind: str | None  # why it does not find the place of the state
    heard_at: float
    in_step_seconds: float = 0.0


@dataclass(frozen=True)
class Gone:
    """The connection of the task that held a slot has ended."""


class Supervisor:
    """One thread serves it: nothing here waits for a task."""

    def __init__(
        self,
        host: TaskHost,
        slots: int,
        ports: tuple[int, int],
        state: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host = host
        self.slots = slots
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        keys = RunKeys.new(host.encrypts)
        address = host.driver_address()
        self._listener = Listener(address, range(ports[0], ports[1] + 1), self._selector, keys)
        self._settings = TaskSettings((address, self._listener.port), keys, ports, state)
        self.members: dict[int, Member] = {}
        self._slot_of: dict[Connection, int] = {}
        self.listened_at = clock()
        self._alarm, self._bell = socket.socketpair()
        self._alarm.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._alarm, selectors.EVENT_READ, _WAKE)

    def start(self) -> None:
        for slot in range(self.slots):
            self._host.start(slot, self._settings)

    @property
    def complete(self) -> bool:
        return len(self.members) == self.slots

    def wake(self) -> None:
        """From any thread: serve() returns."""
        with contextlib.suppress(OSError):  # full: it has been woken; closed: nobody sleeps
            self._bell.send(b"!")

    def broadcast(self, message: FromDriver) -> None:
        frame = Frame(MESSAGE, dumps_on_driver(message))
        for member in self.members.values():
            with contextlib.suppress(BrokenConnectionError):  # serve() finds it gone
                member.connection.send(frame)

    def serve(self, seconds: float) -> list[tuple[int, FromTask | Gone]]:
        """What has come in the meantime, by slot."""
        heard: list[tuple[int, FromTask | Gone]] = []
        ready = self._selector.select(max(0.0, seconds))
        self.listened_at = self._clock()
        for key, events in ready:
            if key.data is self._listener:
                self._listener.accept()
            elif key.data == _WAKE:
                with contextlib.suppress(BlockingIOError):
                    self._alarm.recv(4096)
            elif not key.data.closed:
                heard += self._serve_task(key.data, events)
        return heard

    def _serve_task(self, connection: Connection, events: int) -> list[tuple[int, FromTask | Gone]]:
        heard: list[tuple[int, FromTask | Gone]] = []
        try:
            frames = connection.serve(events)
        except (BrokenConnectionError, NotAuthenticatedError):
            connection.close()
            slot = self._slot_of.pop(connection, None)
            if slot is not None and self._forget(slot):
                heard.append((slot, Gone()))
            return heard
        for frame in frames:
            message: FromTask = loads(frame.payload)
            if isinstance(message, Hello):
                heard += self._welcome(connection, message)
            slot = self._slot_of.get(connection)
            if slot is not None:
                self._note(self.members[slot], message)
                heard.append((slot, message))
        return heard

    def _welcome(self, connection: Connection, hello: Hello) -> list[tuple[int, FromTask | Gone]]:
        """A task that was there before has been replaced: it ends when it finds its connection closed."""
        gone: list[tuple[int, FromTask | Gone]] = [(hello.slot, Gone())] if self._forget(hello.slot) else []
        self.members[hello.slot] = Member(connection, hello.process, hello.address, hello.blind, heard_at=self._clock())
        self._slot_of[connection] = hello.slot
        return gone

    def _note(self, member: Member, message: FromTask) -> None:
        member.heard_at = self._clock()
        if isinstance(message, Beat):
            member.in_step_seconds = message.in_step_seconds

    def _forget(self, slot: int) -> bool:
        member = self.members.pop(slot, None)
        if member is None:
            return False
        self._slot_of.pop(member.connection, None)
        member.connection.close()
        return True

    # -- those that do not answer ------------------------------------------------------------------------------

    def silent(self, seconds: float) -> list[int]:
        """Slots of which nothing was heard for that long, not even a beat.

        What counts is the last time that somebody listened: a commit may have kept the driver busy since then.
        """
        return [slot for slot, member in self.members.items() if self.listened_at - member.heard_at > seconds]

    def replace(self, slot: int) -> None:
        self._forget(slot)
        self._host.replace(slot)

    def restart_ended(self) -> dict[int, str]:
        """Tasks that Spark does not start again by itself; gives why they ended."""
        ended = self._host.ended()
        for slot in ended:
            self._host.start(slot, self._settings)
        return ended

    def close(self) -> None:
        for slot in list(self.members):
            self._forget(slot)
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, Connection):
                key.data.close()
        self._listener.close()
        self._selector.close()
        self._alarm.close()
        self._bell.close()
