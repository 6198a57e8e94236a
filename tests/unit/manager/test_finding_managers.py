"""Which manager runs in a home, also after one was killed and somebody else took its port."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.client import RefusedError, find_manager
from penstock.client.access import RestAccess, read_access, write_access
from penstock.client.jobs import MANAGER_DIRECTORY
from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.manager.service import ManagerService


@pytest.fixture
def other(tmp_path: Path) -> Iterator[RestAccess]:
    """The address of a manager of another home, which has a token of its own."""
    home = tmp_path / "other"
    service = ManagerService(home, Configuration.from_dict({"rest.port": "0"}), tmp_path / "log")
    access = read_access(home / MANAGER_DIRECTORY)
    assert access is not None
    yield access
    service.stop()
    service.run()


def test_an_address_that_a_killed_manager_left_and_that_answers_otherwise_is_no_manager(
    tmp_path: Path, other: RestAccess
) -> None:
    directory = tmp_path / "home" / MANAGER_DIRECTORY
    directory.mkdir(parents=True)
    (directory / "owner").write_text("4711")
    write_access(directory, RestAccess(other.url, "its own token", 4711))
    assert find_manager(tmp_path / "home") is None

    # The next manager has the home already, and has not written its address yet.
    with open(directory / "owner", "w") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        owner.write(str(os.getpid()))
        owner.flush()
        assert find_manager(tmp_path / "home") is None
        write_access(directory, RestAccess(other.url, "its own token", os.getpid()))
        with pytest.raises(RefusedError):
            find_manager(tmp_path / "home")


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("penstock.cluster.slots", "0", "at least 1"),
        ("rest.port", "80000", "from 0 to 65535"),
        ("rest.bind-address", "203.0.113.7", "an address of this machine"),
    ],
)
def test_a_manager_that_cannot_start_says_which_option_is_wrong(
    tmp_path: Path, option: str, value: str, complaint: str
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        ManagerService(tmp_path, Configuration.from_dict({option: value}), tmp_path / "log")
