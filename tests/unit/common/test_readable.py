"""Waiting for something to read."""

from __future__ import annotations

import fcntl
import resource
import socket
from collections.abc import Iterator

import pytest

from penstock.common.readable import readable


@pytest.fixture
def many_files() -> Iterator[None]:
    """A process may have more than 1,024 open files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 2048), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("many_files")
def test_a_socket_with_a_large_number() -> None:
    one, other = socket.socketpair()
    with one, other, socket.socket(fileno=fcntl.fcntl(one, fcntl.F_DUPFD, 1500)) as large:
        assert large.fileno() >= 1500
        assert not readable(large, seconds=0)
        other.send(b"!")
        assert readable(large, seconds=0)
        assert readable(other, large)
