"""PostgreSQL, through psycopg: COPY for many rows, statements for few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import Dialect, Rows, Target
from penstock.connectors.jdbc.postgresql_session import connection_settings, forms, read_exactly
from penstock.connectors.jdbc.postgresql_stage import plan_for
from penstock.connectors.reaching import package

_FEW_ROWS = 100  # for which a table would cost more than it saves
_REFUSED = {"28P01", "28000", "3D000"}  # a wrong password, user or database stays wrong
_IDLE_TOO_LONG = "25P03"  # a source that is read slowly keeps its transaction open; psycopg calls it internal
_REFUSALS = ("authentication failed", "does not exist", "no pg_hba.conf entry")


class PostgreSQL(Dialect):
    stages = True
    insert_once = "INSERT INTO"
    insert_once_tail = " ON CONFLICT DO NOTHING"

    def connect(self, address: DatabaseAddress) -> Any:
        connection = package("psycopg", "postgres").connect(**connection_settings(address))
        connection.execute(forms(address))
        connection.commit()
        read_exactly(connection)
        return connection

    def is_away(self, error: Exception) -> bool:
        psycopg = package("psycopg", "postgres")
        state = getattr(error, "sqlstate", None)
        if state == _IDLE_TOO_LONG:
            return True
        if not isinstance(error, psycopg.OperationalError):
            return False
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
