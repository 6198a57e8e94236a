"""Calls about transactions end, whatever the client does."""

from __future__ import annotations

import threading

import pytest

from penstock.connectors.kafka.outage import KafkaUnreachable
from penstock.connectors.kafka.producing import KafkaProducing
from penstock.connectors.kafka.source import checked_settings


@pytest.fixture
def producing() -> KafkaProducing:
    properties = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": "200"}
    return KafkaProducing(checked_settings(properties, "KafkaSink", "Producer"), "committing")


def test_a_call_that_does_not_keep_its_timeout_is_given_up(producing: KafkaProducing) -> None:
    answer = threading.Event()
    try:
        with pytest.raises(KafkaUnreachable, match=r"Kafka at 127.0.0.1:1 does not answer while committing"):
            producing.retried(answer.wait)
    finally:
        answer.set()


def test_results_and_errors_of_calls_pass_through(producing: KafkaProducing) -> None:
    assert producing.retried(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        producing.retried(divmod, 7, 0)
