"""How to reach a database, and how to write to it: PyFlink's option classes."""

from __future__ import annotations

from penstock.common.errors import ConfigurationError
from penstock.connectors.arguments import text
from penstock.connectors.jdbc.address import MYSQL, POSTGRESQL, SQLITE, DatabaseAddress, parse_url

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions"]

_INTERVAL_MS, _SIZE = 0, 5_000  # Flink's
_DRIVERS = {
    "org.postgresql.": POSTGRESQL,
    "com.mysql.": MYSQL,
    "org.mariadb.": MYSQL,
    "org.sqlite.": SQLITE,
}


class JdbcConnectionOptions:
    """The URL of a database, and who asks.

    >>> options = (
    ...     JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    ...     .with_url("jdbc:postgresql://db:5432/shop").with_user_name("me").with_password("secret").build()
    ... )
    >>> options
    JdbcConnectionOptions(PostgreSQL at db:5432, database 'shop', user 'me')
    """

    def __init__(
        self, url: str, user_name: str | None = None, password: str | None = None, driver_name: str | None = None
    ) -> None:
        self._address = parse_url(url, user_name, password)
        self._url = url
        self._driver_name = driver_name
        kinds = {kind for prefix, kind in _DRIVERS.items() if str(driver_name).startswith(prefix)}
        if driver_name is not None and kinds and self._address.kind not in kinds:
            raise ConfigurationError(f"The driver {driver_name} is for another database than {self._address}.")

    def __repr__(self) -> str:
        return f"JdbcConnectionOptions({self._address})"

    def get_db_url(self) -> str:
        return self._url

    def get_driver_name(self) -> str | None:
        """The Java class that the program named. One of another database than the URL's is refused; else it is only
        remembered, as Python's drivers go by the URL."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        return self._address.user

    def get_password(self) -> str | None:
        return self._address.password

    @property
    def address(self) -> DatabaseAddress:
        return self._address

    class JdbcConnectionOptionsBuilder:
        """Builds :class:`JdbcConnectionOptions`; the URL is required."""

        def __init__(self) -> None:
            self._url: str | None = None
            self._driver_name: str | None = None
            self._user_name: str | None = None
            self._password: str | None = None

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._url = url
            return self

        def with_driver_name(self, driver_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._driver_name = text("with_driver_name", driver_name)
            return self

        def with_user_name(self, user_name: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._user_name = text("with_user_name", user_name)
            return self

        def with_password(self, password: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._password = text("with_password", password)
            return self

        def build(self) -> JdbcConnectionOptions:
            if self._url is None:
                raise ConfigurationError("JdbcConnectionOptions need with_url(...).")
            return JdbcConnectionOptions(self._url, self._user_name, self._password, self._driver_name)


class JdbcExecutionOptions:
    """How many rows go to the database at once, after how long at the latest, and how often a batch is tried again.

    What is buffered is also written when an epoch ends.
    """

    def __init__(self, batch_interval_ms: int = _INTERVAL_MS, batch_size: int = _SIZE, max_retries: int = 3) -> None:
        for name, value in (("interval", batch_interval_ms), ("size", batch_size), ("retries", max_retries)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigurationError(f"The {name} of JdbcExecutionOptions is a number of 0 or more, not {value!r}.")
        self._batch_interval_ms = batch_interval_ms
        self._batch_size = batch_size
        self._max_retries = max_retries

    def get_batch_interval_ms(self) -> int:
        return self._batch_interval_ms

    def get_batch_size(self) -> int:
        return self._batch_size

    def get_max_retries(self) -> int:
        return self._max_retries

    @property
    def has_batches(self) -> bool:
        """Whether the program has said how rows are put together."""
        return (self._batch_interval_ms, self._batch_size) != (_INTERVAL_MS, _SIZE)

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        return JdbcExecutionOptions()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Builds :class:`JdbcExecutionOptions`."""

        def __init__(self) -> None:
            self._size = _SIZE
            self._interval_ms = _INTERVAL_MS
            self._max_retries = 3

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            self._size = size
            return self

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            self._interval_ms = interval_ms
            return self

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            self._max_retries = max_retries
            return self

        def build(self) -> JdbcExecutionOptions:
            return JdbcExecutionOptions(self._interval_ms, self._size, self._max_retries)
