"""Tasks between two jobs; here they are threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from penstock.engines.resident import waiting_room
from penstock.engines.resident.messages import TaskSettings
from penstock.engines.resident.run_keys import RunKeys
from penstock.engines.resident.waiting_room import WaitingRoom, wait_in

WORK = 1, TaskSettings(("127.0.0.1", 1), RunKeys.new(), (0, 0), "somewhere")
Waiting = Callable[[int], "Future[tuple[int, TaskSettings] | None]"]


@pytest.fixture
def room() -> WaitingRoom:
    return WaitingRoom(seats=4)


@pytest.fixture
def come(room: WaitingRoom) -> Waiting:
    pool = ThreadPoolExecutor()
    return lambda number: pool.submit(wait_in, room.address, number)


def test_a_guest_gets_the_work_that_it_is_sent_off_with(room: WaitingRoom, come: Waiting) -> None:
    guests = {number: come(number) for number in (7, 8)}
    while len(room.waiting()) < 2:
        pass
    assert room.send_off(8, WORK)
    assert guests[8].result() == WORK
    assert room.waiting() == [7]
    assert room.send_off(7, WORK)
    assert guests[7].result() == WORK


def test_a_guest_that_has_gone_gets_no_work(room: WaitingRoom, come: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_room, "_WAIT_SECONDS", 0.01)
    assert come(7).result() is None
    assert room.waiting() == [7]
    assert not room.send_off(7, WORK)
    assert room.waiting() == []


def test_who_finds_no_seat_or_no_room_does_not_wait(come: Waiting) -> None:
    small = WaitingRoom(seats=1)
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(wait_in, small.address, number) for number in range(8)]
        wait(asked, return_when=FIRST_COMPLETED)
        while not all(each.done() for each in asked):
            for number in small.waiting():
                small.send_off(number, WORK)
    assert None in [each.result() for each in asked]
    assert wait_in("/nowhere/room", 1) is None


def test_a_room_leaves_nothing_behind(room: WaitingRoom) -> None:
    private = Path(WaitingRoom(seats=1).address)
    assert not private.parent.exists()
    assert Path(room.address).parent.stat().st_mode & 0o077 == 0
