"""Settings of Kafka's Java client become librdkafka's, or are refused; credentials stay out of every text."""

from __future__ import annotations

import logging

import pytest

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.connectors.kafka.offsets import KafkaTopicPartition
from penstock.connectors.kafka.outage import Outage
from penstock.connectors.kafka.settings import KafkaSettings, OnceInAWhile
from penstock.connectors.kafka.subscription import Subscription


def test_java_names_are_translated_and_the_program_wins_over_defaults() -> None:
    given = {
        "bootstrap.servers": "b:1",
        "request.timeout.ms": 5,
        "buffer.memory": "33554432",
        "enable.idempotence": True,
    }
    client = KafkaSettings({**given, "linger.ms": "7"}).for_client(linger__ms=5, acks="all")
    assert client == {
        "bootstrap.servers": "b:1",
        "socket.timeout.ms": "5",
        "queue.buffering.max.kbytes": "32768",
        "enable.idempotence": "true",
        "linger.ms": "7",
        "acks": "all",
    }


def test_what_only_flink_knows_does_not_reach_the_client() -> None:
    given = {"partition.discovery.interval.ms": "10", "key.deserializer": "x", "client.id.prefix": "p"}
    assert KafkaSettings(given).for_client() == {}
    assert KafkaSettings(given).client_id("3") == {"client.id": "p-3"}


def test_a_java_login_becomes_user_and_password() -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="a\\"b";'
    assert KafkaSettings({"sasl.jaas.config": jaas}).for_client() == {"sasl.username": "me", "sasl.password": 'a"b'}
    with pytest.raises(NotSupportedError, match="only login modules with a username"):
        KafkaSettings({"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;"}).for_client()


def test_a_java_login_with_tokens_becomes_one_of_librdkafka() -> None:
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    java = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"
        ),
        "sasl.oauthbearer.token.endpoint.url": "https://tokens/",
        "sasl.jaas.config": f"""{module} clientId="me" clientSecret='a"b' scope="kafka";""",
    }
    assert KafkaSettings(java).for_client() == {
        "sasl.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://tokens/",
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": 'a"b',
        "sasl.oauthbearer.scope": "kafka",
    }
    unsecured = {"sasl.jaas.config": f'{module} unsecuredLoginStringClaim_sub="me";'}
    trying = {"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": "principal=me"}
    assert KafkaSettings(unsecured).for_client() == trying
    assert KafkaSettings(unsecured).for_admin() == trying, "marks and questions need the login as well"
    with pytest.raises(NotSupportedError, match="sasl.oauthbearer.method=oidc"):
        KafkaSettings({"sasl.login.callback.handler.class": "com.example.Handler"}).for_client()


@pytest.mark.parametrize("key", ["ssl.truststore.location", "partitioner.class", "interceptor.classes"])
def test_what_has_no_counterpart_is_refused(key: str) -> None:
    with pytest.raises(NotSupportedError, match=key):
        KafkaSettings({key: "x"}).for_client()


def test_no_text_shows_credentials() -> None:
    secrets = ("sasl.password", "sasl.jaas.config", "ssl.key.password", "sasl.oauthbearer.client.secret")
    assert "hush" not in repr(KafkaSettings(dict.fromkeys(secrets, "hush")))


def test_numbers_must_be_numbers() -> None:
    with pytest.raises(ProgramError, match="default.api.timeout.ms is a number, not 'soon'"):
        Outage(KafkaSettings({"default.api.timeout.ms": "soon"}), "reading")


class Error:
    def __init__(self, text: str = "connection refused", code: int = -195) -> None:
        self._text = text
        self._code = code

    def str(self) -> str:
        return self._text

    def code(self) -> int:
        return self._code


def test_an_outage_is_a_failure_only_after_a_while_and_can_be_over() -> None:
    now = [0.0]
    outage = Outage(
        KafkaSettings({"bootstrap.servers": "b:1", "default.api.timeout.ms": "2000"}), "reading", lambda: now[0]
    )
    outage.error_cb(Error())
    now[0] = 1.9
    assert not outage.lasts_too_long
    now[0] = 2.1
    assert outage.lasts_too_long
    assert "Kafka at b:1 does not answer while reading (tried for 2 s): connection refused" in str(outage.failure())
    outage.over()
    assert not outage.lasts_too_long


def test_a_login_that_is_refused_is_the_reason_although_brokers_are_down_then() -> None:
    outage = Outage(KafkaSettings({"bootstrap.servers": "b:1"}), "reading")
    for error in (Error("0/1 brokers are down"), Error("Invalid username", -169), Error("0/1 brokers are down")):
        outage.error_cb(error)
    assert "Invalid username. Are user and password, or the certificates, right?" in str(outage.failure())
    outage.over()
    outage.error_cb(Error("all brokers down"))
    assert "all brokers down. Are the brokers running" in str(outage.failure())


class Topic:
    def __init__(self, partitions: int) -> None:
        self.partitions = dict.fromkeys(range(partitions))


class Metadata:
    topics = {"orders": Topic(2), "orders-old": Topic(1), "other": Topic(1)}


def test_subscriptions_find_their_partitions() -> None:
    def found(subscription: Subscription) -> list[str]:
        return [str(each) for each in subscription.find(Metadata)]

    assert found(Subscription(topics=("other", "orders"))) == ["orders-0", "orders-1", "other-0"]
    assert found(Subscription(pattern="orders")) == ["orders-0", "orders-1"]
    assert found(Subscription(pattern="orders.*")) == ["orders-0", "orders-1", "orders-old-0"]
    assert found(Subscription(pattern="nothing")) == []
    assert found(Subscription(partitions=frozenset({KafkaTopicPartition("orders", 1)}))) == ["orders-1"]
    with pytest.raises(ProgramError, match="Kafka has no missing"):
        found(Subscription(topics=("missing", "orders")))
    with pytest.raises(ProgramError, match="Kafka has no orders-7"):
        found(Subscription(partitions=frozenset({KafkaTopicPartition("orders", 7)})))


def test_flags_must_be_true_or_false() -> None:
    with pytest.raises(ProgramError, match=r"commit.offsets.on.checkpoint is true or false, not 'maybe'"):
        KafkaSettings({"commit.offsets.on.checkpoint": "maybe"}).check()


def test_a_line_of_the_client_is_logged_once_in_half_a_minute_whichever_client_says_it() -> None:
    now = [0.0]
    passes = OnceInAWhile(lambda: now[0]).filter
    away = "FAIL [rdkafka#consumer-{}] [thrd:b:1/bootstrap]: Connect failed: refused (after {}ms in state CONNECT)"

    def logged(text: str) -> bool:
        return passes(logging.LogRecord("", 0, "", 0, text, None, None))

    assert logged(away.format(1, 0))
    now[0] = 20.0
    assert not logged(away.format(2, 13))
    assert logged(away.replace("b:1", "c:2"))
    now[0] = 31.0
    assert logged(away.format(1, 0))
