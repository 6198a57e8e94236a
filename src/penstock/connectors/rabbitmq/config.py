"""How to reach a RabbitMQ server: PyFlink's configuration class."""

from __future__ import annotations

import logging
import time
from typing import Any
from urllib.parse import unquote, urlsplit

from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.common.utils import refuse_java_object
from penstock.connectors.arguments import flag, number, text
from penstock.connectors.reaching import CONNECT_RETRIES, package, reach, without_secrets

__all__ = ["RMQConnectionConfig"]

_FRAMES = range(4_096, 131_073)  # what the client can do
_PORTS = {"amqp": 5672, "amqps": 5671}


class RMQConnectionConfig:
    """Host, port, virtual host, user and password, or a URI that has all of them.

    >>> RMQConnectionConfig.Builder().set_uri("amqp://me:secret@mq:5672/%2F").build()
    RMQConnectionConfig(RabbitMQ at mq:5672)
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        if not isinstance(settings, dict):
            refuse_java_object("RMQConnectionConfig", "settings", settings, "Use RMQConnectionConfig.Builder().")
        self._settings = settings

    def __repr__(self) -> str:
        return f"RMQConnectionConfig({self.place})"

    @property
    def place(self) -> str:
        uri = self.get_uri()
        if uri is not None:
            parts = urlsplit(uri)
            return f"RabbitMQ at {parts.hostname}:{parts.port or _PORTS[parts.scheme]}"
        return f"RabbitMQ at {self.get_host()}:{self.get_port()}, virtual host {self.get_virtual_host()!r}"

    def get_host(self) -> Any:
        return self._settings.get("host")

    def get_port(self) -> Any:
        return self._settings.get("port")

    def get_virtual_host(self) -> Any:
        return self._settings.get("virtual_host")

    def get_user_name(self) -> Any:
        return self._settings.get("user_name")

    def get_password(self) -> Any:
        return self._settings.get("password")

    def get_uri(self) -> Any:
        return self._settings.get("uri")

    def get_network_recovery_interval(self) -> Any:
        return self._settings.get("network_recovery_interval")

    def is_automatic_recovery(self) -> Any:
        return self._settings.get("automatic_recovery")

    def is_topology_recovery(self) -> Any:
        return self._settings.get("topology_recovery")

    def get_connection_timeout(self) -> Any:
        return self._settings.get("connection_timeout")

    def get_requested_channel_max(self) -> Any:
        return self._settings.get("requested_channel_max")

    def get_requested_frame_max(self) -> Any:
        return self._settings.get("requested_frame_max")

    def get_requested_heartbeat(self) -> Any:
        return self._settings.get("requested_heartbeat")

    @property
    def prefetch_count(self) -> int | None:
        found: int | None = self._settings.get("prefetch_count")
        return found

    @property
    def recovers(self) -> bool:
        """Whether a connection that was lost is made again; else the job fails, and its restart strategy decides."""
        return self.is_automatic_recovery() is not False

    def lost(self, error: Exception) -> JobExecutionError:
        reason = without_secrets(" ".join(str(error).split()) or repr(error), self.secrets)
        return JobExecutionError(f"The connection to {self.place} was lost, and is not to be recovered: {reason}")

    @property
    def secrets(self) -> tuple[str | None, ...]:
        inside = urlsplit(self.get_uri() or "").password
        return self.get_password(), inside, inside and unquote(inside)

    def open_channel(self, queue: str, declare: bool = True) -> tuple[Any, Any]:
        """A blocking connection with its channel; with automatic recovery (the default) it is tried several times."""
        pika = package("pika", "rabbitmq")
        logging.getLogger("pika").setLevel(logging.CRITICAL)  # it tells each failure ten times; we tell it once
        interval = self.get_network_recovery_interval()
        retries = CONNECT_RETRIES if self.recovers else 0

        def attempt() -> tuple[Any, Any]:
            connection = pika.BlockingConnection(self._parameters(pika))
            try:
                channel = connection.channel()
                if declare:
                    channel.queue_declare(queue, durable=True)
            except Exception:
                connection.close()
                raise
            return connection, channel

        def sleep(seconds: float) -> None:
            time.sleep(seconds if interval is None else interval / 1000)

        return reach(self.place, attempt, self.is_away, retries, self.secrets, sleep)

    def is_away(self, error: Exception) -> bool:
        errors = package("pika.exceptions", "rabbitmq")
        refused = (errors.ProbableAuthenticationError, errors.AuthenticationError, errors.ProbableAccessDeniedError)
        return isinstance(error, errors.AMQPConnectionError) and not isinstance(error, refused)

    def _parameters(self, pika: Any) -> Any:
        uri = self.get_uri()
        if uri is not None:
            parameters = pika.URLParameters(uri)
        else:
            credentials = pika.PlainCredentials(self.get_user_name(), self.get_password())
            parameters = pika.ConnectionParameters(
                self.get_host(), self.get_port(), self.get_virtual_host(), credentials
            )
        # Without its answers the server would drop a connection that waits for the next epoch.
        parameters.heartbeat = self.get_requested_heartbeat() or 0
        timeout = self.get_connection_timeout()
        if timeout is not None:
            parameters.socket_timeout = parameters.stack_timeout = timeout / 1000 or None  # 0 waits for ever
        if self.get_requested_channel_max():  # 0: as many as can be
            parameters.channel_max = self.get_requested_channel_max()
        if self.get_requested_frame_max():
            parameters.frame_max = min(self.get_requested_frame_max(), _FRAMES[-1])
        return parameters

    class Builder:
        """Builds an :class:`RMQConnectionConfig`."""

        def __init__(self) -> None:
            self._settings: dict[str, Any] = {}

        def _set(self, name: str, value: Any) -> RMQConnectionConfig.Builder:
            self._settings[name] = value
            return self

        def set_port(self, port: int) -> RMQConnectionConfig.Builder:
            return self._set("port", number("set_port", port, 1, 65_535))

        def set_host(self, host: str) -> RMQConnectionConfig.Builder:
            return self._set("host", text("set_host", host))

        def set_virtual_host(self, vhost: str) -> RMQConnectionConfig.Builder:
            return self._set("virtual_host", text("set_virtual_host", vhost))

        def set_user_name(self, user_name: str) -> RMQConnectionConfig.Builder:
            return self._set("user_name", text("set_user_name", user_name))

        def set_password(self, password: str) -> RMQConnectionConfig.Builder:
            return self._set("password", text("set_password", password))

        def set_uri(self, uri: str) -> RMQConnectionConfig.Builder:
            if not _is_uri(text("set_uri", uri)):  # without the text, which has the password
                raise ConfigurationError("set_uri() takes amqp://user:password@host:port/virtual-host, or amqps://...")
            return self._set("uri", uri)

        def set_topology_recovery_enabled(self, topology_recovery_enabled: bool) -> RMQConnectionConfig.Builder:
            """Whether a queue is declared again on a connection that takes the place of a lost one."""
            return self._set("topology_recovery", flag("set_topology_recovery_enabled", topology_recovery_enabled))

        def set_requested_heartbeat(self, requested_heartbeat: int) -> RMQConnectionConfig.Builder:
            """In seconds. A job that waits longer for its next epoch loses the connection, and makes another."""
            return self._set("requested_heartbeat", number("set_requested_heartbeat", requested_heartbeat, 0, 65_535))

        def set_requested_frame_max(self, requested_frame_max: int) -> RMQConnectionConfig.Builder:
            """In bytes; 0 for the largest that can be."""
            if number("set_requested_frame_max", requested_frame_max) in range(1, _FRAMES[0]):
                raise ConfigurationError(
                    f"set_requested_frame_max() takes 0 or {_FRAMES[0]} and more bytes, got {requested_frame_max}."
                )
            return self._set("requested_frame_max", requested_frame_max)

        def set_requested_channel_max(self, requested_channel_max: int) -> RMQConnectionConfig.Builder:
            return self._set(
                "requested_channel_max", number("set_requested_channel_max", requested_channel_max, 0, 65_535)
            )

        def set_network_recovery_interval(self, network_recovery_interval: int) -> RMQConnectionConfig.Builder:
            """Milliseconds between two attempts to connect; without it the pauses grow."""
            return self._set(
                "network_recovery_interval", number("set_network_recovery_interval", network_recovery_interval)
            )

        def set_connection_timeout(self, connection_timeout: int) -> RMQConnectionConfig.Builder:
            return self._set("connection_timeout", number("set_connection_timeout", connection_timeout))

        def set_automatic_recovery(self, automatic_recovery: bool) -> RMQConnectionConfig.Builder:
            return self._set("automatic_recovery", flag("set_automatic_recovery", automatic_recovery))

        def set_prefetch_count(self, prefetch_count: int) -> RMQConnectionConfig.Builder:
            """How many messages may be on their way or read and not yet acknowledged; 0 for any number."""
            return self._set("prefetch_count", number("set_prefetch_count", prefetch_count, 0, 65_535))

        def build(self) -> RMQConnectionConfig:
            if "uri" not in self._settings:
                wanted = ("host", "port", "virtual_host", "user_name", "password")
                missing = [name for name in wanted if self._settings.get(name) is None]
                if missing:
                    raise ConfigurationError(f"RMQConnectionConfig needs a URI, or {', '.join(missing)} too.")
            return RMQConnectionConfig(dict(self._settings))


def _is_uri(uri: str | None) -> bool:
    try:
        parts = urlsplit(uri or "")
        _ = parts.port  # says so if it is no number
    except ValueError:
        return False
    return parts.scheme in _PORTS and bool(parts.hostname)
