"""examples/kafka_page_views.py against a real broker, in this process; `make demo-kafka` runs and kills it on Spark."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest
from tests.conftest import EnvironmentFactory
from tests.services.kafka import KafkaBroker, committed_messages, create_topic, produce


def test_views_are_counted_by_app_and_window(
    kafka: KafkaBroker,
    local_env: EnvironmentFactory,
    example: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = example("kafka_page_views")
    env = local_env(2, 200)
    monkeypatch.setattr(
        program, "StreamExecutionEnvironment", SimpleNamespace(get_execution_environment=lambda: env), raising=True
    )
    views, counts = create_topic(kafka, 3), create_topic(kafka)
    truth: Counter[tuple[str, int]] = Counter()
    messages = []
    for number in range(1_000):
        app, moment = f"app-{number % 7}", 1_000_000 + number * 50
        messages.append({"value": json.dumps({"app": app, "page": "/"}), "key": app, "timestamp": moment})
        truth[app, (moment // 10_000 + 1) * 10_000] += 1
    produce(kafka, views, [*messages, {"value": b"broken", "timestamp": 1_000_000}])
    program.main(argparse.Namespace(servers=kafka.address, views=views, counts=counts, until_now=True, postgres=""))
    found = [json.loads(message.value()) for message in committed_messages(kafka, counts)]
    assert sorted((each["app"], each["until"], each["views"]) for each in found) == sorted(
        (app, until, views) for (app, until), views in truth.items()
    )
    assert "ValueError: Failed to deserialize JSON b'broken'" in capsys.readouterr().out
