"""Looks for splits and news in a thread of its own, so that planning an epoch never waits for the outside."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.common.errors import JobExecutionError, PenstockError
from penstock.functions.source import Split, SplitEnumerator


@dataclass(frozen=True)
class Look:
    """The result of a discovery."""

    splits: list[Split] = field(default_factory=list)
    complete: bool = False
    state: Any = None


class SplitWatch:
    """Runs an enumerator. `step` does what is due and says how long to wait; the thread only repeats it."""

    def __init__(self, enumerator: SplitEnumerator, wake: Callable[[], None], state: Any = None) -> None:
        self._enumerator = enumerator
        self._wake = wake
        self._changed = threading.Condition()
        self._look: Look | None = None
        self._error: str | None = None
        self._positions: Mapping[str, Any] | None = None
        self._committed: Mapping[str, Any] | None = None
        self._news = True
        self._stopped = self._told = False
        self._next_discovery: float | None = 0.0
        self._next_question = 0.0
        if state is not None:
            enumerator.restore_state(state)

    def start(self) -> None:
        threading.Thread(target=self._run, name="penstock-splits", daemon=True).start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._notify()

    # -- asked by the planner, never waits ---------------------------------------------------------------------

    def latest(self) -> Look | None:
        if self._error is not None:
            raise JobExecutionError(f"The source cannot say what there is to read: {self._error}")
        return self._look

    def has_news(self) -> bool:
        return self._news

    def at(self, positions: Mapping[str, Any], moved: bool) -> None:
        """The last epoch ended here. When it has read anything, more is likely."""
        with self._changed:
            self._positions = positions
            self._news = moved
            self._notify()

    def committed(self, positions: Mapping[str, Any]) -> None:
        with self._changed:
            self._committed = positions
            self._notify()

    def _notify(self) -> None:
        self._told = True
        self._changed.notify_all()

    # -- in the thread -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._enumerator.open()
            while not self._stopped:
                self._told = False
                seconds = self.step(time.monotonic())
                with self._changed:
                    if not self._told:
                        self._changed.wait(seconds)
            self._tell_commit()
        except PenstockError as error:  # a sentence for the user, which lines of a connector would only bury
            self._error = str(error)
            self._wake()
        except Exception as error:
            self._error = f"{type(error).__name__}: {error}\n\n{traceback.format_exc()}"
            self._wake()
        finally:
            self._enumerator.close()

    def step(self, now: float) -> float | None:
        """Returns after how many seconds something is due again."""
        self._tell_commit()
        if self._next_discovery is not None and now >= self._next_discovery:
            self._discover(now)
        if not self._news and self._positions is not None and now >= self._next_question:
            self._ask(now)
        due = [] if self._next_discovery is None else [self._next_discovery]
        if not self._news:
            due.append(self._next_question)
        return max(0.0, min(due) - now) if due else None

    def _tell_commit(self) -> None:
        with self._changed:
            positions, self._committed = self._committed, None
        if positions is not None:
            self._enumerator.on_commit(positions)

    def _discover(self, now: float) -> None:
        interval = self._enumerator.discovery_interval_ms
        splits = list(self._enumerator.discover())
        self._look = Look(splits, interval is None, self._enumerator.snapshot_state())
        self._next_discovery = None if interval is None else now + interval / 1000
        self._wake()

    def _ask(self, now: float) -> None:
        positions = self._positions
        self._next_question = now + self._enumerator.news_interval_ms / 1000
        if positions is not None and self._enumerator.has_news(positions):
            with self._changed:
                self._news = self._news or positions is self._positions
            self._wake()
