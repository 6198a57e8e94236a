"""What differs between databases: how to connect, to mark parameters, to upsert, and to load many rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from penstock.common.errors import ConfigurationError
from penstock.connectors.jdbc.address import MYSQL, POSTGRESQL, DatabaseAddress

Rows = list[tuple[Any, ...]]


class Target(Protocol):
    """What is done with rows."""

    def execute(self, cursor: Any, dialect: Dialect, rows: Rows) -> None:
        """With the statements that were declared, whatever the database is."""


class Dialect(ABC):
    """One kind of database."""

    mark: ClassVar[str] = "%s"
    stages: ClassVar[bool] = False  # whether writers can bring the rows of an epoch into tables of their own
    insert_once: ClassVar[str]  # how an INSERT begins and ends that leaves an existing row alone
    insert_once_tail: ClassVar[str] = ""
    lock_tail: ClassVar[str] = " FOR UPDATE"

    @abstractmethod
    def connect(self, address: DatabaseAddress) -> Any:
        """A connection of the Python driver, which begins transactions by itself."""

    @abstractmethod
    def is_away(self, error: Exception) -> bool:
        """Whether the same again may work a little later."""

    @abstractmethod
    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """A statement that inserts a row, or replaces the one with its key."""

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def table_name(self, table: str) -> str:
        """The parts of `schema.table`, quoted."""
        return ".".join(self.quoted(part) for part in table.split("."))

    def insert(self, table: str, columns: Sequence[str]) -> str:
        names = ", ".join(map(self.quoted, columns))
        return f"INSERT INTO {self.table_name(table)} ({names}) VALUES ({', '.join('?' * len(columns))})"

    def delete(self, table: str, key: Sequence[str]) -> str:
        condition = " AND ".join(f"{self.quoted(name)} = ?" for name in key)
        return f"DELETE FROM {self.table_name(table)} WHERE {condition}"

    def adapted(self, rows: Rows) -> Rows:
        """With values that the driver takes."""
        return rows

    def moment(self, seconds: int, nanos: int) -> Any:
        """A point in time, as the driver takes it."""
        import datetime

        at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        return at.replace(microsecond=nanos // 1_000)

    def write(self, cursor: Any, target: Target, rows: Rows) -> None:
        """In the fastest way that this database has."""
        target.execute(cursor, self, self.adapted(rows))

    def check_transactions(self, cursor: Any, table: str) -> None:
        """Raises if what is written to a table stays there although its transaction is rolled back."""

    def exact(self, text: str) -> str | None:
        """An expression that tells texts apart which the database takes for equal; None if they usually are not."""
        return None

    def stream(self, connection: Any) -> Any:
        """A cursor whose result stays in the database until it is fetched."""
        return connection.cursor()


def dialect_of(address: DatabaseAddress) -> Dialect:
    if address.kind == POSTGRESQL:
        from penstock.connectors.jdbc.postgresql import PostgreSQL

        return PostgreSQL()
    if address.kind == MYSQL:
        from penstock.connectors.jdbc.mysql import MySQL

        return MySQL()
    from penstock.connectors.jdbc.sqlite import SQLite

    return SQLite()


def unknown_property(address: DatabaseAddress, name: str, known: Sequence[str]) -> ConfigurationError:
    return ConfigurationError(
        f"The URL of {address} has the property {name!r}, which is not known here, or not with this value; known are"
        f" user, password, {', '.join(sorted(known))}."
    )
