"""Spark's JVM: started ahead, while the program is still being read, and taken when the session is made.

A JVM that nobody takes (the program runs no job, or makes a session of its own) ends with the process; one that was
started with other settings than the program turns out to want is ended, and another one started.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pyspark.java_gateway import launch_gateway


@dataclass(frozen=True)
class JvmSettings:
    """What a JVM must be started with."""

    options: tuple[tuple[str, str], ...]
    environment: tuple[tuple[str, str], ...]
    log_file: Path | None  # None: its output is the program's


class _Start:
    def __init__(self, settings: JvmSettings) -> None:
        self.settings = settings
        self.gateway: Future[Any] = Future()
        threading.Thread(target=self._run, name="penstock-jvm", daemon=True).start()

    def _run(self) -> None:
        try:
            self.gateway.set_result(_launch(self.settings))
        except BaseException as error:
            self.gateway.set_exception(error)

    def end(self) -> None:
        """In the background: the JVM may still be starting."""
        self.gateway.add_done_callback(lambda done: None if done.exception() else _end(done.result()))


_ahead: _Start | None = None


def start_ahead(settings: JvmSettings) -> None:
    """Returns at once."""
    global _ahead
    if _ahead is None:
        _ahead = _Start(settings)


def gateway_with(settings: JvmSettings) -> Any:
    """The JVM that was started ahead, if it has these settings, else a new one."""
    global _ahead
    ahead, _ahead = _ahead, None
    if ahead is not None and ahead.settings == settings:
        return ahead.gateway.result()
    if ahead is not None:
        ahead.end()
    return _launch(settings)


def _launch(settings: JvmSettings) -> Any:
    os.environ.update(settings.environment)
    conf = SimpleNamespace(getAll=lambda: list(settings.options))
    if settings.log_file is None:
        return launch_gateway(conf)  # type: ignore[no-untyped-call]
    settings.log_file.parent.mkdir(parents=True, exist_ok=True)
    with open(settings.log_file, "ab") as log:  # the workers that the JVM starts inherit it too
        return launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]


def _end(gateway: Any) -> None:
    gateway.shutdown()
    if gateway.proc is not None:
        gateway.proc.stdin.close()
