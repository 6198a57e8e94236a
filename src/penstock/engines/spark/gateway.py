"""Spark's JVM: started ahead, while the program is still being read, and taken when the session is made.

A JVM that nobody takes (the program runs no job, or makes a session of its own) ends with the process; one that was
started with other settings than the program turns out to want is ended, and another one started.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from penstock.common.errors import SetupError
from penstock.common.library_logs import only_warnings_of
from penstock.engines.spark.jvm_command import jvm_command
from penstock.engines.spark.jvm_settings import JvmSettings, jvm_settings

_LOOK_SECONDS = 0.005
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"


@dataclass(frozen=True)
class _Jvm:
    """A process that has said where it listens."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str


class _Start:
    def __init__(self, settings: JvmSettings) -> None:
        self.settings = settings
        self.jvm: Future[_Jvm | None] = Future()
        threading.Thread(target=self._run, name="penstock-jvm", daemon=True).start()

    def _run(self) -> None:
        try:
            self.jvm.set_result(_start(self.settings))
        except BaseException as error:
            self.jvm.set_exception(error)

    def end(self) -> None:
        """In the background: the JVM may still be starting."""
        self.jvm.add_done_callback(lambda done: None if done.exception() else _end(done.result()))


_ahead: _Start | None = None
_over = False  # a JVM was asked for: whatever is made from now on finds that one


def start_jvm_ahead(master: str | None, options: dict[str, str], log_file: Path, verbose: bool) -> None:
    """Returns at once; spark_context() takes the JVM if it asks for the same."""
    global _ahead
    settings = jvm_settings(master, options, log_file, verbose)
    if _ahead is None and not _over:
        _ahead = _Start(settings)


def gateway_with(settings: JvmSettings) -> Any:
    """The JVM that was started ahead, if it has these settings, else a new one."""
    global _ahead, _over
    only_warnings_of("py4j")
    start, _ahead, _over = _ahead, None, True
    if start is None or start.settings != settings:
        if start is not None:
            start.end()
        start = _Start(settings)
    # With its first call of the JVM PySpark looks for numpy, by a module that loads pandas. Now there is time for it.
    importlib.import_module("pyspark.testing.utils")
    jvm = start.jvm.result()
    os.environ.update(settings.environment)
    return _launched_by_script(settings) if jvm is None else _connected(jvm)


def _start(settings: JvmSettings) -> _Jvm | None:
    """None where only Spark's own scripts know how."""
    found = jvm_command(settings)
    if found is None:
        return None
    command, environment = found
    directory = tempfile.mkdtemp()
    try:
        said = Path(directory, "connection")
        environment = {**environment, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(said)}
        with _output(settings) as log:
            # It ends when its input does, that is with this process, and not at Ctrl-C, which is for the program.
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log, preexec_fn=_heed_no_interrupts
            )
        while not said.exists():
            if process.poll() is not None:
                where = "" if settings.log_file is None else f": see {settings.log_file}"
                raise SetupError(f"Spark's JVM ended with {process.returncode} before it could be used{where}")
            time.sleep(_LOOK_SECONDS)
        return _Jvm(process, *_connection(said.read_bytes()))
    finally:
        shutil.rmtree(directory)


def _connection(said: bytes) -> tuple[int, str]:
    """Two numbers and a text: the file takes its name when it is complete."""
    port, length = struct.unpack_from(">ii", said)
    return port, said[8 : 8 + length].decode()


def _heed_no_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def _output(settings: JvmSettings) -> Iterator[IO[bytes] | None]:
    """The workers that the JVM starts inherit it, too."""
    if settings.log_file is None:
        yield None
        return
    settings.log_file.parent.mkdir(parents=True, exist_ok=True)
    with open(settings.log_file, "ab") as log:
        yield log


def _connected(jvm: _Jvm) -> Any:
    """As PySpark connects to a JVM that was there before it."""
    os.environ.update({_PORT: str(jvm.port), _SECRET: jvm.secret})
    try:
        gateway = _launch_gateway()
    finally:
        del os.environ[_PORT], os.environ[_SECRET]
    gateway.proc = jvm.process
    return gateway


def _launched_by_script(settings: JvmSettings) -> Any:
    conf = SimpleNamespace(getAll=lambda: list(settings.options))
    with _output(settings) as log:
        return _launch_gateway(conf, None if log is None else {"stdout": log, "stderr": log})


def _launch_gateway(*arguments: Any) -> Any:
    return importlib.import_module("pyspark.java_gateway").launch_gateway(*arguments)


def _end(jvm: _Jvm | None) -> None:
    """As when this process ends."""
    if jvm is not None and jvm.process.stdin is not None:
        jvm.process.stdin.close()
