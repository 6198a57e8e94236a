"""Files of the state go when no record can name them any more, and not before."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engines.resident.unused_files import UnusedFiles
from penstock.storage.local import LocalStorage

AHEAD = 3


class Place:
    def __init__(self, directory: Path, *names: str) -> None:
        self._storage = LocalStorage(str(directory))
        self.write(*names)
        self.unused = UnusedFiles(self._storage, AHEAD)

    def write(self, *names: str) -> None:
        for name in names:
            self._storage.write(f"{name}.state", b"x")

    def record(self, *names: str) -> None:
        self.unused.remove([f"{name}.state:0-1" for name in names])

    def files(self) -> list[str]:
        self.unused.close()
        return [name.removesuffix(".state") for name in self._storage.names()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_files_of_earlier_deployments_go_at_once(tmp_path: Path) -> None:
    place = Place(tmp_path, "d1-0-0", "d1-1-0")
    place.unused.deployed("d2")
    place.write("d2-0-0")
    place.record("d2-0-0", "d1-1-0")
    assert place.files() == ["d1-1-0", "d2-0-0"]


def test_a_file_that_its_task_may_still_write_to_stays(place: Place) -> None:
    place.unused.deployed("d1")
    place.write("d1-0-0", "d1-0-1")
    for _ in range(10):
        place.record("d1-0-0")
    assert place.files() == ["d1-0-0", "d1-0-1"]


def test_a_file_stays_until_subtasks_that_were_ahead_have_had_it_recorded(place: Place) -> None:
    """One subtask has written epoch 2 to the first file; another its epoch 1 to the second, which is recorded first."""
    place.unused.deployed("d1")
    place.write("d1-0-0", "d1-0-1")
    place.record("d1-0-0")
    place.record("d1-0-1")
    place.record("d1-0-0", "d1-0-1")
    assert place.files() == ["d1-0-0", "d1-0-1"]


def test_a_file_goes_when_no_epoch_that_was_under_way_has_named_it(place: Place) -> None:
    place.unused.deployed("d1")
    place.write("d1-0-0", "d1-0-1")
    place.record("d1-0-0")
    for _ in range(AHEAD + 1):
        place.record("d1-0-1")
    assert place.files() == ["d1-0-1"]


def test_files_of_a_driver_that_has_taken_over_are_left_alone(place: Place) -> None:
    place.unused.deployed("d1")
    place.write("d2-0-0")
    place.record("d1-0-0")
    assert place.files() == ["d2-0-0"]
