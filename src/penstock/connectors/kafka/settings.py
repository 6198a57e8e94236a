"""Settings of Kafka's Java client, as Flink programs have them, in the words of librdkafka."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError

# Flink's own settings of a source; they never reach the client.
DISCOVERY_INTERVAL = "partition.discovery.interval.ms"
COMMIT_OFFSETS = "commit.offsets.on.checkpoint"
PATIENCE = "default.api.timeout.ms"
FLINK_SETTINGS = {DISCOVERY_INTERVAL, COMMIT_OFFSETS, PATIENCE, "register.consumer.metrics", "client.id.prefix"}

# Flink overrides these: records are bytes until a schema reads them.
_OVERRIDDEN = {"key.deserializer", "value.deserializer", "key.serializer", "value.serializer"}

_RENAMED: dict[str, tuple[str, Callable[[str], str]]] = {
    "request.timeout.ms": ("socket.timeout.ms", str),
    "delivery.timeout.ms": ("message.timeout.ms", str),
    "max.request.size": ("message.max.bytes", str),
    "buffer.memory": ("queue.buffering.max.kbytes", lambda text: str(max(1, int(text) // 1024))),
    "fetch.max.wait.ms": ("fetch.wait.max.ms", str),
    "sasl.mechanism": ("sasl.mechanisms", str),
    "ssl.endpoint.identification.algorithm": ("ssl.endpoint.identification.algorithm", lambda text: text or "none"),
    "security.protocol": ("security.protocol", str.lower),
}
_REFUSED = {
    "ssl.truststore.location": "librdkafka reads certificates as PEM: set ssl.ca.location to a PEM file",
    "ssl.truststore.password": "librdkafka reads certificates as PEM: set ssl.ca.location to a PEM file",
    "interceptor.classes": "Java classes do not run here",
    "partitioner.class": "Java classes do not run here: see set_partitioner() of the record serializer",
    "sasl.client.callback.handler.class": "Java classes do not run here",
    "sasl.login.callback.handler.class": "Java classes do not run here: see sasl.oauthbearer.method=oidc",
    "transactional.id": "the sink names its transactions itself: see set_transactional_id_prefix()",
    "max.poll.records": "set penstock.epoch.max-records, which bounds what a job reads at once",
}
# How brokers are reached, the same for all kinds of clients.
_CONNECTION = re.compile(
    r"(bootstrap|client|security|sasl|ssl|socket|reconnect|metadata|broker|api|connections|retry)\.|enable\.(ssl|sasl)|https\.|log|debug"
)
_SECRETS = re.compile(r"password|secret|sasl\.username|jaas|ssl\.key\.pem|ssl\.certificate\.pem|token", re.IGNORECASE)
_NUMBERS = re.compile(r"#\w+-\d+|after \d+ms|\d+ms in state|\d+ identical")  # clients, and how long it took
_QUIET_SECONDS = 30.0
_JAAS = re.compile(r"""\b(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
_OF_TOKENS = {
    "clientId": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}
_UNSECURED = "unsecuredLoginStringClaim_sub"
_HANDLER_OF_TOKENS = "OAuthBearerLoginCallbackHandler"  # Kafka's own: librdkafka does the same


class KafkaSettings:
    """What a program has set. Its text never shows credentials."""

    def __init__(self, given: Mapping[Any, Any] | None = None) -> None:
        self._given = {str(key): _text(value) for key, value in (given or {}).items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KafkaSettings) and self._given == other._given

    def __hash__(self) -> int:
        return hash(frozenset(self._given.items()))

    def with_(self, **settings: Any) -> KafkaSettings:
        """With further settings; dots are written as two underscores."""
        return KafkaSettings({**self._given, **{key.replace("__", "."): value for key, value in settings.items()}})

    def updated(self, given: Mapping[Any, Any]) -> KafkaSettings:
        return KafkaSettings({**self._given, **given})

    def get(self, key: str, default: str | None = None) -> str | None:
        return self._given.get(key, default)

    def number(self, key: str, default: int) -> int:
        text = self._given.get(key)
        try:
            return default if text is None else int(text)
        except ValueError:
            raise ProgramError(f"Kafka's setting {key} is a number, not {text!r}") from None

    def flag(self, key: str, default: bool) -> bool:
        text = self._given.get(key, str(default)).strip().lower()
        if text not in ("true", "false"):
            raise ProgramError(f"Kafka's setting {key} is true or false, not {text!r}")
        return text == "true"

    def check(self) -> None:
        """Those that never reach the client, which would check its own."""
        self.number(PATIENCE, 0), self.number(DISCOVERY_INTERVAL, 0)
        self.flag(COMMIT_OFFSETS, True)

    @property
    def servers(self) -> str:
        return self._given.get("bootstrap.servers", "")

    def client_id(self, who: str) -> dict[str, str]:
        """Told apart by what they are for, after the program's prefix."""
        prefix = self._given.get("client.id.prefix")
        return {} if prefix is None else {"client.id": f"{prefix}-{who}"}

    def for_client(self, **defaults: Any) -> dict[str, Any]:
        """In librdkafka's words. Dots of the defaults are written as two underscores; the program's settings win."""
        settings: dict[str, Any] = {key.replace("__", "."): value for key, value in defaults.items()}
        for key, value in self._given.items():
            if key in FLINK_SETTINGS or key in _OVERRIDDEN:
                continue
            if key == "sasl.login.callback.handler.class" and value.endswith(f".{_HANDLER_OF_TOKENS}"):
                continue
            if key in _REFUSED:
                raise NotSupportedError(f"Kafka's setting {key}: {_REFUSED[key]}.")
            if key == "sasl.jaas.config":
                settings.update(_login_of(value))
                continue
            name, change = _RENAMED.get(key, (key, str))
            settings[name] = change(value)
        return settings

    def for_consumer(self, **settings: Any) -> dict[str, Any]:
        """To ask a group's offsets where the settings are a producer's: only how brokers are reached counts."""
        return {**self.for_admin(), **settings}

    def for_admin(self) -> dict[str, Any]:
        return {key: value for key, value in self.for_client().items() if _CONNECTION.match(key)}

    def __repr__(self) -> str:
        shown = {key: "******" if _SECRETS.search(key) else value for key, value in self._given.items()}
        return f"KafkaSettings({shown})"


def confluent_kafka() -> ModuleType:
    """The client library, which only those need who use Kafka."""
    try:
        import confluent_kafka as module
    except ImportError:
        raise ProgramError(
            "Kafka needs the package confluent-kafka, also on the workers' machines: pip install 'penstock[kafka]'"
        ) from None
    return module


def new_client(kind: str, settings: dict[str, Any], **callbacks: Any) -> Any:
    """A Consumer, a Producer or an AdminClient; settings that librdkafka does not know are told as such."""
    module = confluent_kafka()
    if kind == "AdminClient":
        from confluent_kafka import admin

        made = admin.AdminClient
    else:
        made = getattr(module, kind)
    try:
        return made({**settings, **callbacks}, logger=_client_log())
    except module.KafkaException as error:
        raise ProgramError(
            f"Kafka's client does not accept a setting: {error.args[0].str()}. Settings are those of Kafka's Java"
            " client, or librdkafka's own; docs/connectors/kafka.md says where the two differ."
        ) from None


def _client_log() -> logging.Logger:
    """Without what the client gets over by itself, such as a coordinator that is not ready yet."""
    log = logging.getLogger("penstock.kafka.client")
    if not log.filters:
        log.addFilter(lambda record: not record.getMessage().endswith(": retrying"))
        log.addFilter(OnceInAWhile())
    return log


class OnceInAWhile:
    """Lets a line pass that was not there in the last half minute: of a broker that is away a client tells many times a
    second. Lines that differ only in numbers are the same."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._passed: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        text, now = _NUMBERS.sub("", record.getMessage()), self._clock()
        self._passed = {line: moment for line, moment in self._passed.items() if now - moment < _QUIET_SECONDS}
        return self._passed.setdefault(text, now) == now


def _login_of(jaas: str) -> dict[str, str]:
    found = {key: re.sub(r"\\(.)", r"\1", one or other) for key, one, other in _JAAS.findall(jaas)}
    if {"username", "password"} <= set(found):
        return {"sasl.username": found["username"], "sasl.password": found["password"]}
    if {"clientId", "clientSecret"} <= set(found):
        client = {name: found[key] for key, name in _OF_TOKENS.items() if key in found}
        return {"sasl.oauthbearer.method": "oidc", **client}
    if _UNSECURED in found:
        principal = f"principal={found[_UNSECURED]}"
        return {"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": principal}
    raise NotSupportedError(
        "Kafka's setting sasl.jaas.config: only login modules with a username and a password, or with the id and the"
        " secret of a client, are understood. For Kerberos and other tokens take librdkafka's settings"
        " (sasl.kerberos..., sasl.oauthbearer...)."
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
