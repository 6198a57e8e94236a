"""Who is there and who is silent, as the driver sees it; the tasks are threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from penstock.engines.resident.driver_connection import DriverConnection
from penstock.engines.resident.frames import MESSAGE, Frame, Greeting
from penstock.engines.resident.messages import CONTROL_LEVEL, Hello, TaskSettings
from penstock.engines.resident.supervisor import Supervisor
from penstock.runtime.pickling import dumps


class Host:
    """Tasks that say hello, and nothing more."""

    encrypts = False

    def __init__(self) -> None:
        self.connections: list[DriverConnection] = []
        self.threads: list[threading.Thread] = []

    def driver_address(self) -> str:
        return "127.0.0.1"

    def start(self, slot: int, settings: TaskSettings) -> None:
        self.threads.append(threading.Thread(target=self._greet, args=(slot, settings)))
        self.threads[-1].start()

    def _greet(self, slot: int, settings: TaskSettings) -> None:
        connection = DriverConnection(settings.driver, settings.keys, Greeting(0, CONTROL_LEVEL, slot), 60)
        connection.send(Frame(MESSAGE, dumps(Hello(slot, 0, ("127.0.0.1", 0), None))))
        self.connections.append(connection)


@contextmanager
def supervised(slots: int, clock: Any) -> Iterator[Supervisor]:
    host = Host()
    supervisor = Supervisor(host, slots, (0, 0), "somewhere", lambda: clock.now)  # type: ignore[arg-type]
    supervisor.start()
    try:
        while not supervisor.complete:
            supervisor.serve(60)
        yield supervisor
    finally:
        for thread in host.threads:
            thread.join()
        for connection in host.connections:
            connection.close()
        supervisor.close()


def test_tasks_are_silent_only_while_somebody_listens() -> None:
    """A commit that takes longer than a task may be silent keeps the driver from hearing anybody."""
    clock = SimpleNamespace(now=0.0)
    with supervised(2, clock) as supervisor:
        clock.now = 100.0
        assert supervisor.silent(15) == []
        supervisor.serve(0)
        assert sorted(supervisor.silent(15)) == [0, 1]
