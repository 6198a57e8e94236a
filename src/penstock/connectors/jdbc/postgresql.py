"""PostgreSQL, through psycopg: COPY for many rows, statements for few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import Dialect, Rows, Target, unknown_property
from penstock.connectors.jdbc.postgresql_stage import plan_for
from penstock.connectors.reaching import package

_FEW_ROWS = 100  # for which a table would cost more than it saves
_REFUSED = {"28P01", "28000", "3D000"}  # a wrong password, user or database stays wrong
_REFUSALS = ("authentication failed", "does not exist", "no pg_hba.conf entry")
_PROPERTIES = {
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "connectTimeout": "connect_timeout",
    "ApplicationName": "application_name",
    "options": "options",
}
_ALWAYS_SO = {"reWriteBatchedInserts": "true", "stringtype": "unspecified"}


class PostgreSQL(Dialect):
    stages = True
    insert_once = "INSERT INTO"
    insert_once_tail = " ON CONFLICT DO NOTHING"

    def connect(self, address: DatabaseAddress) -> Any:
        return package("psycopg", "postgres").connect(**connection_settings(address))

    def is_away(self, error: Exception) -> bool:
        psycopg = package("psycopg", "postgres")
        if not isinstance(error, psycopg.OperationalError):
            return False
        state = getattr(error, "sqlstate", None)
        return state not in _REFUSED and not (state is None and any(text in str(error) for text in _REFUSALS))

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        others = [self.quoted(name) for name in columns if name not in key]
        action = f"UPDATE SET {', '.join(f'{name} = EXCLUDED.{name}' for name in others)}" if others else "NOTHING"
        names = ", ".join(map(self.quoted, key))
        return f"{self.insert(table, columns)} ON CONFLICT ({names}) DO {action}"

    def write(self, cursor: Any, target: Target, rows: Rows) -> None:
        plan = plan_for(target, self) if len(rows) > _FEW_ROWS else None
        if plan is None:
            target.execute(cursor, self, rows)
        elif plan.straight is not None and plan.takes_copies(cursor):
            plan.copy(cursor, plan.straight, rows)
        else:
            plan.create(cursor, "penstock_batch", temporary=True)
            plan.copy(cursor, "penstock_batch", rows)
            plan.apply(cursor, "penstock_batch")

    def stream(self, connection: Any) -> Any:
        cursor = connection.cursor("penstock")
        cursor.itersize = 10_000
        return cursor


def connection_settings(address: DatabaseAddress) -> dict[str, Any]:
    """What libpq wants to know."""
    settings: dict[str, Any] = {
        "host": address.host,
        "port": address.port,
        "dbname": address.database,
        "user": address.user,
        "password": address.password,
        "connect_timeout": "10",
        "application_name": "penstock",
    }
    for name, value in address.properties.items():
        if name == "currentSchema":
            settings["options"] = f"-csearch_path={value}"
        elif name in _PROPERTIES:
            settings[_PROPERTIES[name]] = value
        elif _ALWAYS_SO.get(name) != value:
            raise unknown_property(address, name, [*_PROPERTIES, *_ALWAYS_SO, "currentSchema"])
    return settings
