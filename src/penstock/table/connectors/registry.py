"""Every connector of tables by the name of its option."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from penstock.common.errors import ProgramError
from penstock.table.connectors.base import TableConnector
from penstock.table.sql.errors import suggestion

# Modules are loaded when a table names them: some need packages that are not always installed.
CONNECTORS: dict[str, tuple[str, str]] = {
    "blackhole": ("printing", "BlackholeConnector"),
    "datagen": ("datagen", "DatagenConnector"),
    "delta": ("delta", "DeltaConnector"),
    "filesystem": ("filesystem", "FilesystemConnector"),
    "iceberg": ("iceberg", "IcebergConnector"),
    "jdbc": ("jdbc", "JdbcConnector"),
    "kafka": ("kafka", "KafkaConnector"),
    "postgres-cdc": ("postgres_cdc", "PostgresCdcConnector"),
    "print": ("printing", "PrintConnector"),
    "redis": ("redis", "RedisConnector"),
    "upsert-kafka": ("kafka", "UpsertKafkaConnector"),
}


def connector_of(path: tuple[str, ...], options: Mapping[str, str]) -> TableConnector:
    name, known = options.get("connector"), ", ".join(CONNECTORS)
    if name is None:
        raise ProgramError(f"The table {'.'.join(path)} has no option 'connector': give one of {known}.")
    if name not in CONNECTORS:
        raise ProgramError(
            f"The table {'.'.join(path)} has the connector '{name}', which is not known."
            f"{suggestion(name, CONNECTORS)} There are: {known}."
        )
    module, kind = CONNECTORS[name]
    connector: TableConnector = getattr(import_module(f"penstock.table.connectors.{module}"), kind)()
    return connector
