"""One driver at a time, on every storage that can create a file only if it is not there."""

from __future__ import annotations

import pytest

from penstock.storage import Storage, StorageError
from penstock.storage.leadership import StorageLeadership


@pytest.fixture(autouse=True)
def only_where_files_can_be_created(storage: Storage) -> None:
    if storage.location.startswith("arrow:"):
        with pytest.raises(StorageError, match="keep two drivers apart"):
            StorageLeadership(storage).acquire("me")
        pytest.skip("refused, as it should be")


def test_a_second_driver_is_refused_until_the_first_lets_go(storage: Storage) -> None:
    first, second = StorageLeadership(storage), StorageLeadership(storage)
    assert first.leader() is None
    assert first.acquire("first") == 1
    assert second.acquire("second") is None
    assert (first.leads(), second.leads()) == (True, False)
    assert second.leader() == "first"
    first.release()
    assert not first.leads()
    assert second.acquire("second") == 2
    assert second.leads()


def test_a_leader_that_was_taken_over_finds_out(storage: Storage) -> None:
    first, second = StorageLeadership(storage), StorageLeadership(storage)
    first.acquire("first")
    assert second.acquire("second", take_over=True) == 2
    assert (first.leads(), second.leads()) == (False, True)
    first.release()
    assert second.leads(), "what a former leader does changes nothing"
    assert StorageLeadership(storage).acquire("third") is None


def test_of_two_that_take_over_in_the_same_moment_one_leads(storage: Storage) -> None:
    StorageLeadership(storage).acquire("dead")
    second, third = StorageLeadership(storage), StorageLeadership(storage)
    third._newest = lambda: 1  # type: ignore[method-assign]  # it has looked before the second was there
    assert second.acquire("second", take_over=True) == 2
    assert third.acquire("third", take_over=True) is None
