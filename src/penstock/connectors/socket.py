"""Lines of text from a socket, for demonstrations: what was sent while nobody listened is lost, as in Flink."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from typing import Any

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.readable import readable
from penstock.common.typeinfo import TypeInformation, Types
from penstock.connectors.base import Source
from penstock.functions.source import Fetch, SourceReader, Split, SplitEnumerator

__all__ = ["SocketTextSource"]

_WAIT_SECONDS = 0.01
_RETRY_SECONDS = 0.5
_CONNECT_SECONDS = 10.0


class SocketTextSource(Source):
    """Connects to a server that sends text, and reads it line by line; ends when the server closes the connection.

    Example::

        lines = env.from_source(SocketTextSource("localhost", 9999), WatermarkStrategy.no_watermarks(), "lines")

    ``max_retry`` is how often it connects again after the server is gone; -1 for ever. There is one connection,
    whatever the parallelism. A socket cannot be read again: after a failure lines are missing.
    """

    bounded = False

    def __init__(self, host: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> None:
        super().__init__()
        if not isinstance(delimiter, str) or not delimiter:
            raise ProgramError(f"SocketTextSource needs a text between two lines as delimiter, not {delimiter!r}.")
        self._address = (host, port)
        self._delimiter = delimiter
        self._max_retry = max_retry

    def create_enumerator(self, context: Any) -> SplitEnumerator:
        return _OneConnection(self._address)

    def create_reader(self, context: Any) -> SourceReader:
        return _LineReader(self._address, self._delimiter.encode(), self._max_retry)

    def get_produced_type(self) -> TypeInformation:
        return Types.STRING()


@dataclass(frozen=True)
class _Connection(Split):
    """The only split; its position counts lines."""


class _OneConnection(SplitEnumerator):
    def __init__(self, address: tuple[str, int]) -> None:
        self._id = f"{address[0]}:{address[1]}"

    def discover(self) -> list[Split]:
        return [_Connection(self._id, start=0)]


class _LineReader(SourceReader):
    def __init__(self, address: tuple[str, int], delimiter: bytes, max_retry: int) -> None:
        self._address = address
        self._delimiter = delimiter
        self._retries = max_retry
        self._split = ""
        self._lines = 0
        self._rest = b""
        self._socket: socket.socket | None = None

    def add_split(self, split: Split, position: int) -> None:
        self._split, self._lines = split.split_id, position

    def remove_split(self, split_id: str) -> None:
        self._split = ""
        self.close()

    def fetch(self, max_records: int) -> Fetch | None:
        if not self._split:
            return None
        connection = self._connected()
        if connection is None or not readable(connection, seconds=_WAIT_SECONDS):
            return None
        try:
            block = connection.recv(1 << 16)
        except ConnectionError as error:  # the server has died, which is not how it ends
            if self._retries == 0:
                raise self._failed("has lost", error) from error
            block = b""
        if not block:
            return self._lost()
        *lines, self._rest = (self._rest + block).split(self._delimiter)
        self._lines += len(lines)
        return Fetch(self._split, [self._text(line) for line in lines], self._lines)

    def _connected(self) -> socket.socket | None:
        if self._socket is None:
            try:
                self._socket = socket.create_connection(self._address, _CONNECT_SECONDS)
            except OSError as error:
                if self._retries == 0:
                    raise self._failed("cannot connect to", error) from error
                self._retries -= 1
                time.sleep(_RETRY_SECONDS)
        return self._socket

    def _failed(self, what: str, error: OSError) -> JobExecutionError:
        host, port = self._address
        return JobExecutionError(
            f"SocketTextSource {what} {host}:{port}: {error}. Does a server listen there? max_retry is how often it is"
            " tried again."
        )

    def _lost(self) -> Fetch | None:
        """The server has closed the connection: what came after the last delimiter is a line, too."""
        last, self._rest = self._rest, b""
        records = [self._text(last)] if last else []
        self._lines += len(records)
        again = self._retries != 0
        self._retries -= again
        self.close()
        return Fetch(self._split, records, self._lines, finished=not again)

    def close(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    def _text(self, line: bytes) -> str:
        return (line.removesuffix(b"\r") if self._delimiter == b"\n" else line).decode("utf-8", errors="replace")
