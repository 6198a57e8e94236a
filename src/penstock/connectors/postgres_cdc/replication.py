"""The stream of a replication slot, at libpq's level: psycopg has no replication of its own."""

from __future__ import annotations

import contextlib
import struct
import time
from typing import Any

from penstock.common.readable import readable
from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.postgresql_session import connection_settings, forms
from penstock.connectors.postgres_cdc.positions import lsn_text
from penstock.connectors.reaching import package

_EPOCH_2000_SECONDS = 946_684_800


class ReplicationStream:
    """Bytes of pgoutput from a place of the log on."""

    def __init__(self, address: DatabaseAddress, slot: str, publication: str, lsn: int) -> None:
        psycopg = package("psycopg", "postgres")
        settings = {**connection_settings(address), "replication": "database"}
        self._connection = psycopg.connect(**settings, autocommit=True)
        self._pgconn: Any = self._connection.pgconn
        self._pgconn.exec_(forms(address).encode())  # the texts of values are made by this session
        name = publication.replace('"', '""')
        command = (
            f'START_REPLICATION SLOT "{slot}" LOGICAL {lsn_text(lsn)}'
            f" (proto_version '1', publication_names '\"{name}\"')"
        )
        result = self._pgconn.exec_(command.encode())
        if result.status != psycopg.pq.ExecStatus.COPY_BOTH:
            text = result.error_message.decode(errors="replace").strip()
            self.close()
            raise psycopg.OperationalError(text)
        self._error = psycopg.OperationalError
        self._confirmed = lsn
        self.sent_upto = lsn  # all that was committed before has been received

    def read(self, wait_seconds: float) -> bytes | None:
        """The next message; None when there is none within the time."""
        deadline = time.monotonic() + wait_seconds
        while True:
            size, data = self._pgconn.get_copy_data(1)
            if size > 0:
                message = self._take(bytes(data))
                if message is not None:
                    return message
                continue
            if size < 0:
                reason = self._pgconn.get_result()
                text = "" if reason is None else reason.error_message.decode(errors="replace").strip()
                raise self._error(f"the server has ended the stream of changes: {text or 'without a reason'}")
            left = deadline - time.monotonic()
            if left <= 0 or not readable(self._pgconn.socket, seconds=left):
                return None
            self._pgconn.consume_input()

    def _take(self, data: bytes) -> bytes | None:
        if data[:1] == b"w":
            return data[25:]
        if data[:1] == b"k":
            upto, _, wants_reply = struct.unpack(">qqb", data[1:18])
            self.sent_upto = max(self.sent_upto, upto)
            if wants_reply:
                self._tell()
        return None

    def confirm(self, lsn: int) -> None:
        """What lies before this place is never asked for again."""
        self._confirmed = max(self._confirmed, lsn)
        self._tell()

    def ask_how_far(self) -> None:
        """The answer moves `sent_upto`, also when nothing of the table has changed."""
        self._tell(wants_reply=True)

    def _tell(self, wants_reply: bool = False) -> None:
        now = int((time.time() - _EPOCH_2000_SECONDS) * 1_000_000)
        at = self._confirmed
        self._pgconn.put_copy_data(struct.pack(">cqqqqb", b"r", at, at, at, now, wants_reply))
        self._pgconn.flush()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._pgconn.finish()
