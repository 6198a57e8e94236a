"""When an enumerator is asked what, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from penstock.functions.source import Split, SplitEnumerator
from penstock.runtime.sources.split_watch import SplitWatch


class Asked(SplitEnumerator):
    news_interval_ms = 100

    def __init__(self, interval: int | None) -> None:
        self.discovery_interval_ms = interval
        self.calls: list[Any] = []
        self.news = False

    def discover(self) -> list[Split]:
        self.calls.append("discover")
        return [Split(str(number)) for number in range(len(self.calls))]

    def has_news(self, positions: Mapping[str, Any]) -> bool:
        self.calls.append(dict(positions))
        return self.news

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        self.calls.append(("committed", dict(positions)))


def watch(interval: int | None) -> tuple[Asked, SplitWatch, list[None]]:
    woken: list[None] = []
    enumerator = Asked(interval)
    return enumerator, SplitWatch(enumerator, lambda: woken.append(None)), woken


def test_a_source_without_interval_is_looked_at_once() -> None:
    enumerator, watched, woken = watch(None)
    assert watched.latest() is None
    assert watched.step(0.0) is None, "nothing is due any more"
    watched.step(100.0)
    look = watched.latest()
    assert look is not None and look.complete and len(look.splits) == 1
    assert (enumerator.calls, len(woken)) == (["discover"], 1)


def test_discovery_is_repeated_at_its_interval() -> None:
    enumerator, watched, _ = watch(2000)
    assert watched.step(0.0) == 2.0
    assert watched.step(1.5) == 0.5
    assert enumerator.calls == ["discover"]
    assert watched.step(2.0) == 2.0
    assert enumerator.calls == ["discover", "discover"]
    look = watched.latest()
    assert look is not None and not look.complete


def test_news_are_asked_for_only_when_the_last_epoch_has_read_nothing() -> None:
    enumerator, watched, woken = watch(None)
    watched.step(0.0)
    watched.at({"0": 5}, moved=True)
    assert watched.has_news(), "where something was, more is likely"
    watched.step(1.0)
    watched.at({"0": 5}, moved=False)
    assert not watched.has_news()
    assert watched.step(2.0) == pytest.approx(0.1)
    assert watched.step(2.05) is not None
    enumerator.news = True
    watched.step(2.11)
    assert watched.has_news() and len(woken) == 2
    watched.step(3.0)
    assert enumerator.calls == ["discover", {"0": 5}, {"0": 5}], "it has said yes, and is not asked again"


def test_commits_are_told_once() -> None:
    enumerator, watched, _ = watch(None)
    watched.committed({"0": 1})
    watched.committed({"0": 2})
    watched.step(0.0)
    watched.step(0.1)
    assert enumerator.calls == [("committed", {"0": 2}), "discover"]
