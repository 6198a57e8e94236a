"""Starts Python workers in a local Spark whose jobs are resident: with what their tasks need, and nothing else."""

from __future__ import annotations

from penstock.engines.spark.daemon import OPERATORS, run

if __name__ == "__main__":
    run((*OPERATORS, "penstock.engines.resident.task"))
