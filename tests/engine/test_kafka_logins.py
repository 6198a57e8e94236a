"""A broker that asks for a password: who has the right one reads and writes, who has not is told so."""

from __future__ import annotations

import itertools
import pickle
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.kafka_programs import strings_of, text_sink
from tests.patience import patience
from tests.services.kafka import KafkaBroker, committed_messages, create_topic, hanging_partitions, produce

from penstock.common import Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.serializer import Messages
from penstock.connectors.kafka.staged_parts import StagedPart
from penstock.connectors.kafka.transactions import TransactionLane
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
                f'{login} username="me" password="r1ght" user_me="r1ght" user_writer="r1ght";'
            ),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:me;User:ANONYMOUS",
        }
        super()._write_settings()

    def client(self, **settings: Any) -> dict[str, Any]:
        return super().client(**{**login_of(RIGHT), **settings})


def login_of(password: str, user: str = "me") -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
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


def _allow(broker: KafkaBroker, user: str, reads: str, writes: Sequence[str], id_: str) -> None:
    from confluent_kafka.admin import (  # type: ignore[attr-defined]
        AclBinding,
        AclOperation,
        AclPermissionType,
        AdminClient,
        ResourcePatternType,
        ResourceType,
    )

    def allowed(kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
        prefixed, anywhere = ResourcePatternType.PREFIXED, "*"
        return AclBinding(kind, name, prefixed, f"User:{user}", anywhere, operation, AclPermissionType.ALLOW)

    admin = AdminClient(broker.client())
    rights = [
        *(allowed(ResourceType.TOPIC, topic, AclOperation.WRITE) for topic in writes),
        allowed(ResourceType.TOPIC, reads, AclOperation.READ),
        allowed(ResourceType.TRANSACTIONAL_ID, id_, AclOperation.WRITE),
        allowed(ResourceType.GROUP, id_, AclOperation.READ),
    ]
    for future in admin.create_acls(rights).values():
        future.result(patience(30))


def test_who_may_not_read_all_topics_commits_exactly_once(
    guarded: KafkaBroker, caplog: pytest.LogCaptureFixture
) -> None:
    """Kafka tells nothing of a partition's producers without that right: who opens the id tells all once more."""
    topics, id_ = [create_topic(guarded) for _ in range(2)], f"lane-{uuid.uuid4().hex}"
    _allow(guarded, "writer", topics[0], topics, id_)
    settings = text_sink(guarded, topics[0], DeliveryGuarantee.EXACTLY_ONCE)._settings
    epochs = itertools.count()
    with caplog.at_level("INFO", "penstock.kafka"):
        for _ in range(2):
            lane = TransactionLane(settings.updated(login_of(RIGHT, "writer")), id_, None)
            for epoch in itertools.islice(epochs, 2):
                content = pickle.dumps(Messages(topics, [b"%d" % epoch] * 2, None, None, None, None))
                lane.commit(epoch, [StagedPart(f"{epoch}", topics[0], (content,))])
            lane.close()
    assert caplog.text.count("leaders of partitions are not asked") == 2
    assert caplog.text.count("told all partitions") == 1
    for topic in topics:
        assert hanging_partitions(guarded, topic) == set()
        assert [message.value() for message in committed_messages(guarded, topic)] == [b"%d" % n for n in range(4)]
