"""Where a database is: JDBC's URLs, as PyFlink programs have them, taken apart for Python's drivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from penstock.common.errors import ConfigurationError, NotSupportedError

POSTGRESQL: Final = "postgresql"
MYSQL: Final = "mysql"
SQLITE: Final = "sqlite"
_KINDS = {"postgresql": POSTGRESQL, "mysql": MYSQL, "mariadb": MYSQL, "sqlite": SQLITE}
_PORTS = {POSTGRESQL: 5432, MYSQL: 3306}


@dataclass(frozen=True)
class DatabaseAddress:
    """A database, and who asks. Its text never has the password."""

    kind: str
    host: str
    port: int
    database: str  # of SQLite: the path
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    properties: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        if self.kind == SQLITE:
            return f"the SQLite database {self.database}"
        name = "PostgreSQL" if self.kind == POSTGRESQL else "MySQL"
        return f"{name} at {self.host}:{self.port}, database {self.database!r}, user {self.user!r}"


def parse_url(url: str, user: str | None = None, password: str | None = None) -> DatabaseAddress:
    """A user or password that is given beside the URL counts more than one inside it."""
    if not isinstance(url, str) or not url.startswith("jdbc:"):
        raise ConfigurationError("The URL of a database begins with jdbc:, as in jdbc:postgresql://host:5432/database.")
    scheme, _, rest = url.removeprefix("jdbc:").partition(":")
    kind = _KINDS.get(scheme)
    if kind is None:
        raise NotSupportedError(
            f"There is no connector for jdbc:{scheme}: yet. PostgreSQL, MySQL, MariaDB and SQLite work; for others"
            " write a Sink that uses the database's Python driver (docs/connectors-own.md)."
        )
    if kind == SQLITE:
        if not rest or rest == ":memory:":
            raise ConfigurationError("A SQLite database needs a file that driver and workers see: jdbc:sqlite:/path.")
        return DatabaseAddress(kind, "", 0, rest)
    try:
        parts = urlsplit(rest if rest.startswith("//") else f"//localhost/{rest}")
        port = parts.port or _PORTS[kind]
    except ValueError as error:  # without the text, which may have the password
        raise ConfigurationError(f"The URL of a database, jdbc:{scheme}://..., cannot be read: {error}.") from None
    properties = dict(parse_qsl(parts.query, keep_blank_values=True))
    inside_user, inside_password = properties.pop("user", None), properties.pop("password", None)
    database = unquote(parts.path.lstrip("/"))
    if "," in parts.netloc or not database:
        raise ConfigurationError(
            f"The URL of a database names one host and a database: jdbc:{scheme}://host:{_PORTS[kind]}/database."
        )
    return DatabaseAddress(
        kind,
        parts.hostname or "localhost",
        port,
        database,
        user or inside_user or (parts.username and unquote(parts.username)),
        password or inside_password or (parts.password and unquote(parts.password)),
        properties,
    )
