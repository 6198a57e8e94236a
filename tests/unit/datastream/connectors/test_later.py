"""Connectors that are not there yet can be imported, and say why they cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common.errors import NotSupportedError
from penstock.datastream import connectors
from penstock.datastream.connectors import kafka, kinesis, pulsar


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (lambda: pulsar.PulsarSource.builder(), "PulsarSource.builder: .*real server yet.*write a Sink.*a Source"),
        (lambda: kinesis.KinesisStreamsSink.builder(), "KinesisStreamsSink.builder: .*docs/connectors-own.md"),
    ],
)
def test_use_is_refused_with_a_reason(use: Any, reason: str) -> None:
    with pytest.raises(NotSupportedError, match=reason):
        use()


def test_subclasses_can_be_written_but_not_used() -> None:
    class ByName(pulsar.MessageDelayer):  # type: ignore[misc]
        def apply(self, data: Any) -> str:
            return str(data)

    with pytest.raises(NotSupportedError, match="real server yet"):
        ByName()


def test_the_package_offers_the_names_that_pyflink_puts_there() -> None:
    assert connectors.KafkaSource is kafka.KafkaSource
    assert connectors.FileSink.__name__ == "FileSink"
    assert "NumberSequenceSource" in dir(connectors)
    with pytest.raises(AttributeError):
        connectors.NoSuchThing  # noqa: B018
