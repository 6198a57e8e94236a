"""Where a Redis server is, and who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.connectors.reaching import package, reach

__all__ = ["RedisOptions"]


@dataclass(frozen=True)
class RedisOptions:
    """The address of a server; its text never has the password."""

    host: str = "localhost"
    port: int = 6379
    database: int = 0
    user_name: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False

    def __str__(self) -> str:
        return f"Redis at {self.host}:{self.port}, database {self.database}"

    def connect(self) -> Any:
        redis = package("redis", "redis")

        def attempt() -> Any:
            client = redis.Redis(
                host=self.host,
                port=self.port,
                db=self.database,
                username=self.user_name,
                password=self.password,
                ssl=self.tls,
                socket_connect_timeout=10,
            )
            client.ping()
            return client

        return reach(str(self), attempt, self.is_away, secrets=(self.password,))

    def is_away(self, error: Exception) -> bool:
        errors = package("redis", "redis").exceptions
        refused = isinstance(error, errors.AuthenticationError)
        return isinstance(error, (errors.ConnectionError, errors.TimeoutError)) and not refused
