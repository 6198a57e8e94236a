"""Lines from a real socket."""

from __future__ import annotations

import socket
import struct
import threading

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.connectors.socket import SocketTextSource


@pytest.mark.parametrize("pieces", [[b"a\nb\r\n", b"c"], [b"a", b"\n", b"b\nc\n"]])
def test_lines_until_the_server_hangs_up(local_env: EnvironmentFactory, pieces: list[bytes]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                for piece in pieces:
                    connection.sendall(piece)

        thread = threading.Thread(target=serve)
        thread.start()
        source = SocketTextSource(*server.getsockname())
        stream = local_env(2).from_source(source, WatermarkStrategy.no_watermarks(), "lines")
        with stream.execute_and_collect() as results:
            assert list(results) == ["a", "b", "c"]
        thread.join()


def reset(connection: socket.socket) -> None:
    """As the kernel does for a process that was killed with data unread."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("max_retry", [0, 2])
def test_a_server_that_dies_is_connected_to_again_or_named(local_env: EnvironmentFactory, max_retry: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            connection.sendall(b"a;b\r;")
            reset(connection)
            if max_retry:
                for _ in range(max_retry):
                    again, _ = server.accept()
                    again.close()

        thread = threading.Thread(target=serve)
        thread.start()
        source = SocketTextSource(*server.getsockname(), delimiter=";", max_retry=max_retry)
        stream = local_env().from_source(source, WatermarkStrategy.no_watermarks(), "lines")
        if max_retry:
            found = list(stream.execute_and_collect())
            assert found in (["a", "b\r"], [])  # a reset may take with it what was not yet read
        else:
            with pytest.raises(JobExecutionError, match="has lost 127.0.0.1"):
                list(stream.execute_and_collect())
        thread.join()


def test_a_delimiter_is_a_text() -> None:
    with pytest.raises(ProgramError, match="as delimiter, not ''"):
        SocketTextSource("localhost", 1, delimiter="")


def test_a_server_that_is_not_there_is_named(local_env: EnvironmentFactory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    stream = local_env().from_source(SocketTextSource("127.0.0.1", port), WatermarkStrategy.no_watermarks(), "lines")
    with pytest.raises(JobExecutionError, match=f"cannot connect to 127.0.0.1:{port}"):
        list(stream.execute_and_collect())
