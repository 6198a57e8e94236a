"""Real processes that are killed; the long versions run with `make soak` only."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_disks() -> None:
    """Takes the place of the fixture that stubs os.fsync for all other tests."""
    assert os.fsync.__module__ == "posix", "what a crash leaves must have gone to the disk"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PENSTOCK_SOAK" not in os.environ:
        for item in items:
            if item.get_closest_marker("soak"):
                item.add_marker(pytest.mark.skip(reason="long: make soak"))
