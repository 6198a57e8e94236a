"""One connection to a database, made when it is needed, and made again when it was lost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from penstock.common.errors import JobExecutionError, PenstockError
from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import dialect_of
from penstock.connectors.reaching import CONNECT_RETRIES, reach, without_secrets

Result = TypeVar("Result")


class Session:
    """Runs transactions, one at a time."""

    def __init__(self, address: DatabaseAddress, connect_retries: int | None = None) -> None:
        self.dialect = dialect_of(address)
        self._address = address
        self._connect_retries = connect_retries
        self._connection: Any = None

    def run(self, action: Callable[[Any], Result], retries: int = 0, doing: str = "") -> Result:
        """A transaction: all of what the action does with its cursor, or nothing of it. `doing` is for errors.

        With retries it is repeated when the database goes away in the middle, and that it was committed may have been
        lost on the way: only for actions that find out, or that may be done twice.
        """

        def transaction() -> Result:
            connection = self.connection()
            try:
                with contextlib.closing(connection.cursor()) as cursor:
                    result = action(cursor)
                connection.commit()
            except Exception:
                self._give_up(connection)
                raise
            return result

        return self._reached(transaction, retries, doing)

    def read(self, action: Callable[[Any], Result], retries: int) -> Result:
        """What the action gets out of the connection, which may be another one in each attempt."""

        def attempt() -> Result:
            connection = self.connection()
            try:
                return action(connection)
            except Exception:
                self._give_up(connection)
                raise

        return self._reached(attempt, retries)

    def _reached(self, attempt: Callable[[], Result], retries: int, doing: str = "") -> Result:
        what = f"{self._address}, {doing}" if doing else str(self._address)
        return reach(what, attempt, self.dialect.is_away, retries, (self._address.password,))

    def connection(self) -> Any:
        if self._connection is None:
            retries = CONNECT_RETRIES if self._connect_retries is None else self._connect_retries
            secrets = (self._address.password,)
            self._connection = reach(str(self._address), self._connect, self.dialect.is_away, retries, secrets)
        return self._connection

    def _connect(self) -> Any:
        try:
            return self.dialect.connect(self._address)
        except PenstockError:
            raise
        except Exception as error:
            if self.dialect.is_away(error):
                raise
            text = without_secrets(" ".join(str(error).split()), (self._address.password,))
            raise JobExecutionError(f"{self._address} does not let us in: {text}") from None

    def _give_up(self, connection: Any) -> None:
        """A connection whose state is in doubt is not used again."""
        self._connection = None
        with contextlib.suppress(Exception):
            connection.close()

    def close(self) -> None:
        if self._connection is not None:
            self._give_up(self._connection)
