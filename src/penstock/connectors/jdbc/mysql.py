"""MySQL and MariaDB, through PyMySQL, which makes one statement of many rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import Dialect, unknown_property
from penstock.connectors.reaching import package

_AWAY = {1040, 1053, 1205, 1213, 2002, 2003, 2006, 2013, 2055}  # gone, shutting down, full, or in each other's way
_ALWAYS_SO = {
    "rewriteBatchedStatements": {"true"},
    "useUnicode": {"true", "yes"},
    "characterEncoding": {"utf8", "UTF-8", "utf-8", "utf8mb4"},
    "useSSL": {"false"},
}


class MySQL(Dialect):
    insert_once = "INSERT IGNORE INTO"

    def connect(self, address: DatabaseAddress) -> Any:
        timeout = 10
        for name, value in address.properties.items():
            if name == "connectTimeout":
                timeout = max(1, int(value) // 1_000)
            elif value not in _ALWAYS_SO.get(name, ()):
                raise unknown_property(address, name, ["connectTimeout", *_ALWAYS_SO])
        return package("pymysql", "mysql").connect(
            host=address.host,
            port=address.port,
            database=address.database,
            user=address.user,
            password=address.password or "",
            charset="utf8mb4",
            connect_timeout=timeout,
            # Strict, as with MySQL's drivers for Java: values that do not fit are no warnings.
            init_command="SET time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')",
        )

    def is_away(self, error: Exception) -> bool:
        errors = package("pymysql", "mysql").err
        if isinstance(error, errors.OperationalError):
            return error.args[0] in _AWAY
        return isinstance(error, errors.InterfaceError)

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def check_transactions(self, cursor: Any, table: str) -> None:
        *schema, name = (part.strip(" `") for part in table.split("."))
        cursor.execute(
            "SELECT engine FROM information_schema.tables WHERE table_schema = COALESCE(%s, DATABASE())"
            " AND table_name = %s AND engine IN ('MyISAM', 'Aria', 'MEMORY', 'CSV', 'ARCHIVE')",
            (schema[-1] if schema else None, name),
        )
        found = cursor.fetchone()
        if found is not None:
            raise JobExecutionError(
                f"The table {table} has the engine {found[0]}, which has no transactions, so that rows could come"
                f" twice: ALTER TABLE {table} ENGINE = InnoDB, or write at least once."
            )

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        names = [self.quoted(name) for name in columns if name not in key] or [self.quoted(key[0])]
        changes = ", ".join(f"{name} = VALUES({name})" for name in names)
        return f"{self.insert(table, columns)} ON DUPLICATE KEY UPDATE {changes}"

    def exact(self, text: str) -> str | None:
        return f"CAST({text} AS BINARY)"  # most of its collations do not see capitals

    def moment(self, seconds: int, nanos: int) -> Any:
        return super().moment(seconds, nanos).replace(tzinfo=None)  # the session's time zone is UTC

    def stream(self, connection: Any) -> Any:
        return connection.cursor(package("pymysql.cursors", "mysql").SSCursor)
