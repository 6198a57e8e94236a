"""The process from which Spark forks its Python workers, with everything they need loaded beforehand.

Run by Spark as `python -m penstock.engines.spark.daemon <worker module>`; only workers that run records are worth it.
"""

from __future__ import annotations

import importlib
import os
import sys

import pyspark.daemon

_PRELOADED = (
    "pandas",
    "pyarrow",
    "pyspark.sql.pandas.serializers",
    "penstock.runtime.hosting",
    "penstock.engines.spark.processor",
    "penstock.engines.spark.source",
    "penstock.engines.spark.wire",
)

if __name__ == "__main__":
    if sys.argv[1:2] == ["pyspark.worker"]:
        for module in _PRELOADED:
            importlib.import_module(module)
        if "PENSTOCK_CRASH" in os.environ:
            importlib.import_module("penstock.testing.faults").arm()
    pyspark.daemon.manager()
