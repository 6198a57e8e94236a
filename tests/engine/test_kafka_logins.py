"""A broker that asks for a password: who has the right one reads and writes, who has not is told so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.kafka_programs import strings_of, text_sink
from tests.services.kafka import KafkaBroker, committed_messages, create_topic, produce

from penstock.common import Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.datastream.connectors import DeliveryGuarantee

RIGHT, WRONG = "r1ght", "wr0ng"
QUICKLY = {"default_api_timeout_ms": "2000"}


class BrokerWithLogins(KafkaBroker):
    """Lets nobody in without the password of `me`."""

    def _write_settings(self) -> None:
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        listener = f"127.0.0.1:{self._port}"
        self._settings = {
            "listeners": f"SASL_PLAINTEXT://{listener},CONTROLLER://127.0.0.1:{self._controller}",
            "advertised.listeners": f"SASL_PLAINTEXT://{listener}",
            "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
                f'{login} username="me" password="r1ght" user_me="r1ght";'
            ),
        }
        super()._write_settings()

    def client(self, **settings: Any) -> dict[str, Any]:
        return super().client(**{**login_of(RIGHT), **settings})


def login_of(password: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": password,
    }


@pytest.fixture(scope="module")
def guarded(kafka: KafkaBroker) -> Iterator[KafkaBroker]:
    """Where `kafka` cannot be, this one cannot either."""
    broker = BrokerWithLogins()
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


def test_a_source_says_that_its_password_is_refused(local_env: EnvironmentFactory, guarded: KafkaBroker) -> None:
    topic = create_topic(guarded)
    produce(guarded, topic, [b"a"])

    def read(password: str) -> list[Any]:
        source = strings_of(guarded, topic, **QUICKLY).set_properties(login_of(password)).build()
        return list(local_env().from_source(source, WatermarkStrategy.no_watermarks(), "in").execute_and_collect())

    assert read(RIGHT) == ["a"]
    with pytest.raises(JobExecutionError, match=r"Invalid username or password.*Are user and password") as raised:
        read(WRONG)
    assert WRONG not in str(raised.value)


@pytest.mark.parametrize("guarantee", [DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE])
def test_a_sink_says_that_its_password_is_refused(
    local_env: EnvironmentFactory, guarded: KafkaBroker, guarantee: DeliveryGuarantee
) -> None:
    topic = create_topic(guarded)

    def write(password: str) -> None:
        login = {key.replace(".", "_"): value for key, value in login_of(password).items()}
        late = {"linger_ms": "5", "request_timeout_ms": "1000", "delivery_timeout_ms": "2000"}
        env = local_env()
        env.from_collection(["b"], Types.STRING()).sink_to(
            text_sink(guarded, topic, guarantee, **login, **QUICKLY, **late)
        )
        env.execute()

    write(RIGHT)
    with pytest.raises(JobExecutionError, match="Are user and password, or the certificates, right") as raised:
        write(WRONG)
    assert WRONG not in str(raised.value)
    assert [message.value() for message in committed_messages(guarded, topic)] == [b"b"]
