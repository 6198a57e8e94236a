"""What a connection to PostgreSQL agrees on with its server, whatever server, database or role have as their own."""

from __future__ import annotations

from typing import Any

from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import unknown_property
from penstock.connectors.jdbc.values import JsonText
from penstock.connectors.reaching import package

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
# Forms that values are read in without loss, and one time zone for times without one: JDBC's driver sets them, too.
_FORMS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "3",
}
_TIMES = ("date", "time", "timetz", "timestamp", "timestamptz")


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
        "client_encoding": "utf8",
    }
    for name, value in address.properties.items():
        if name == "currentSchema":
            settings["options"] = f"-csearch_path={value}"
        elif name in _PROPERTIES:
            settings[_PROPERTIES[name]] = value
        elif _ALWAYS_SO.get(name) != value:
            raise unknown_property(address, name, [*_PROPERTIES, *_ALWAYS_SO, "currentSchema"])
    return settings


def forms(address: DatabaseAddress) -> str:
    """What a session begins with. What the program has asked for in `options` stays."""
    asked = address.properties.get("options", "").lower()
    return "; ".join(f"SET {name} TO '{value}'" for name, value in _FORMS.items() if name.lower() not in asked)


def read_exactly(connection: Any) -> None:
    """Values for which Python has no class (infinity, 24:00, a month) come as the text that they have there."""
    adapt, text = package("psycopg.adapt", "postgres"), package("psycopg", "postgres").pq.Format.TEXT
    adapters = connection.adapters
    for name in _TIMES:
        usual = adapters.get_loader(adapters.types[name].oid, text)
        adapters.register_loader(name, _or_text(usual, adapt.Loader))
    plain = adapters.get_loader(adapters.types["text"].oid, text)
    adapters.register_loader("interval", plain)
    for name in ("json", "jsonb"):
        adapters.register_loader(name, _json_loader(adapt.Loader))


def _or_text(usual: Any, base: Any) -> Any:
    unreadable = package("psycopg", "postgres").DataError

    class ExactLoader(base):  # type: ignore[misc]
        def __init__(self, oid: int, context: Any = None) -> None:
            super().__init__(oid, context)
            self._usual = usual(oid, context).load

        def load(self, data: Any) -> Any:
            try:
                return self._usual(data)
            except unreadable:
                return bytes(data).decode()

    return ExactLoader


def _json_loader(base: Any) -> Any:
    class JsonLoader(base):  # type: ignore[misc]
        def load(self, data: Any) -> JsonText:
            return JsonText(bytes(data).decode())

    return JsonLoader
