"""Starts Python workers in a local Spark whose jobs are resident: without pandas, which only micro-batches need."""

from __future__ import annotations

from penstock.engines.spark.daemon import OPERATORS, run

if __name__ == "__main__":
    run((*OPERATORS, "penstock.engines.resident.task"))
