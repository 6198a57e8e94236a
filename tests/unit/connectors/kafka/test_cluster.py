"""Questions to a cluster of which a broker dies."""

from __future__ import annotations

import itertools
from concurrent.futures import Future
from typing import Any

import pytest

from penstock.connectors.kafka.cluster import KafkaCluster
from penstock.connectors.kafka.offsets import KafkaTopicPartition
from penstock.connectors.kafka.outage import KafkaUnreachable
from penstock.connectors.kafka.source import checked_settings

PARTITION = KafkaTopicPartition("topic", 0)


class Leaders:
    """Of `silent` questions nobody hears again: their leader has died."""

    def __init__(self, silent: int) -> None:
        self._silent = silent
        self._asked = itertools.count()

    def list_offsets(self, wanted: dict[Any, Any], **_: Any) -> dict[Any, Future[Any]]:
        answers = {place: Future[Any]() for place in wanted}
        if next(self._asked) >= self._silent:
            for answer in answers.values():
                answer.set_result(type("Found", (), {"offset": 7}))
        return answers

    def list_topics(self, timeout: float) -> None:
        pass

    def poll(self, _: float) -> None:
        pass


def _cluster(silent: int) -> KafkaCluster:
    properties = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": "200"}
    cluster = KafkaCluster(checked_settings(properties, "KafkaSource", "Consumer"), "looking")
    cluster._admin = Leaders(silent)
    return cluster


def test_what_a_leader_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.connectors.kafka.cluster._CALL_SECONDS", 0.01)
    assert _cluster(silent=2).latest([PARTITION]) == {PARTITION: 7}


def test_nobody_answers() -> None:
    with pytest.raises(KafkaUnreachable, match="does not answer while looking"):
        _cluster(silent=100).latest([PARTITION])
