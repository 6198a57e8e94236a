"""How the process of a source asks the driver of its job."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

import pytest

from penstock.engines.spark.planner_link import PlannerClient, PlannerServer


class Planner:
    def __init__(self) -> None:
        self.failure: Exception | None = None

    def initial_offset(self) -> dict[str, Any]:
        return {"at": 0}

    def latest_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("no more")

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Any]:
        return []

    def planning_failed(self, error: Exception) -> None:
        self.failure = error


def planner_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "penstock-planner"]


def test_a_server_that_is_closed_leaves_no_thread() -> None:
    before = planner_threads()
    planner = Planner()
    server = PlannerServer(planner)
    client = PlannerClient(server.address, server.key)
    assert client.call("initial_offset") == {"at": 0}
    with pytest.raises(Exception, match="no more"):
        client.call("latest_offset", {"at": 0})
    assert isinstance(planner.failure, ValueError)
    (own,) = (thread for thread in planner_threads() if thread not in before)
    server.close()
    own.join(60)
    assert not own.is_alive(), "it holds the job, with all that its sources have read"


def test_callers_that_say_nothing_do_not_hold_up_the_end() -> None:
    server = PlannerServer(Planner())
    silent = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    try:
        for caller in silent:  # more than wait in line: the first is asked for the key
            caller.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                caller.connect(server.address)
        server.close()
        server.close()
    finally:
        for caller in silent:
            caller.close()
