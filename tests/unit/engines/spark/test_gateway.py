"""One JVM for a process, however many environments its program makes."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.spark import gateway
from penstock.engines.spark.jvm_settings import JvmSettings, jvm_settings


class Started:
    """A JVM as gateway.py would start it."""

    all: list[Started]

    def __init__(self, settings: JvmSettings) -> None:
        self.settings = settings
        self.ended = False
        self.jvm: Future[Any] = Future()
        self.jvm.set_result(self)
        Started.all.append(self)

    def end(self) -> None:
        self.ended = True


@pytest.fixture(autouse=True)
def no_real_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    Started.all = []
    monkeypatch.setattr(gateway, "_Start", Started)
    monkeypatch.setattr(gateway, "_connected", lambda jvm: jvm)
    monkeypatch.setattr(gateway, "_ahead", None)
    monkeypatch.setattr(gateway, "_over", False)
    for name in ("JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.setenv(name, "")


def ahead(log: Path, **options: str) -> None:
    gateway.start_jvm_ahead("local[2]", options, log, verbose=False)


def taken(log: Path, **options: str) -> Any:
    return gateway.gateway_with(jvm_settings("local[2]", options, log, verbose=False))


def test_the_one_that_was_started_ahead_is_taken_and_no_further_one_started(tmp_path: Path) -> None:
    ahead(tmp_path)
    ahead(tmp_path)
    jvm = taken(tmp_path)
    ahead(tmp_path)  # as the second environment of a program does
    assert Started.all == [jvm] and not jvm.ended


def test_one_with_other_settings_is_ended(tmp_path: Path) -> None:
    ahead(tmp_path)
    jvm = taken(tmp_path, spark_option="other")
    assert [started.ended for started in Started.all] == [True, False]
    assert jvm is Started.all[1]


def test_after_one_has_died_another_one_is_started(tmp_path: Path) -> None:
    first = taken(tmp_path)
    assert taken(tmp_path) is not first
