"""The process from which Spark forks its Python workers, with everything they need loaded beforehand.

Run by Spark as `python -m penstock.engines.spark.daemon <worker module>`; only workers that run records are worth it.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
from types import SimpleNamespace
from typing import Any

import pyspark.daemon

OPERATORS = (
    "pandas",  # which Arrow loads when it makes its first array
    "penstock.runtime.hosting",
    *(f"penstock.runtime.operators.{name}" for name in ("keyed", "process", "sinks", "sources", "stateless")),
)
_MICRO_BATCHES = (
    "pyspark.sql.pandas.serializers",
    "penstock.engines.spark.processor",
    "penstock.engines.spark.source",
    "penstock.engines.spark.wire",
)
_spark_worker = pyspark.daemon.worker
_daemon = 0


def worker(sock: socket.socket, authenticated: bool) -> int:
    """As Spark's, for one task; after the last one the functions that are still open in the process are closed."""
    code = _spark_worker(sock, authenticated)
    if code:
        _close_functions()
    return code


def set_signal(number: int, handler: Any) -> Any:
    """Spark lets these signals end a worker at once; here its functions are closed first."""
    if handler is signal.SIG_DFL and number in (signal.SIGHUP, signal.SIGTERM) and os.getpid() != _daemon:
        handler = _end_worker
    return signal.signal(number, handler)


def _end_worker(*_: Any) -> None:
    try:
        _close_functions()
    finally:
        os._exit(1)


def _close_functions() -> None:
    importlib.import_module("penstock.runtime.hosting").forget_containers()


def run(preloaded: tuple[str, ...]) -> None:
    """The daemon's whole life; its children have these modules without loading them."""
    global _daemon
    _daemon = os.getpid()
    if sys.argv[1:2] == ["pyspark.worker"]:
        for module in preloaded:
            importlib.import_module(module)
        if "PENSTOCK_CRASH" in os.environ:
            importlib.import_module("penstock.testing.faults").arm()
        # Whatever Spark has a worker do with signals goes through set_signal().
        vars(pyspark.daemon)["signal"] = SimpleNamespace(**{**vars(signal), "signal": set_signal})
        pyspark.daemon.worker = worker
    pyspark.daemon.manager()


if __name__ == "__main__":
    run((*OPERATORS, *_MICRO_BATCHES))
