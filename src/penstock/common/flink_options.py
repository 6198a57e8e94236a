"""The options of Flink 2.3 (and older names of them) that share their story with many others, read from a data file."""

from __future__ import annotations

import functools
from importlib import resources

from penstock.common.option import WORKS, Option

_FILE = "flink_options.txt"
# Families of keys into which programs put names of their own.
PREFIXES = {
    "metrics.reporter.": WORKS,
    "traces.reporter.": "no effect: there are no traces",
    "events.reporter.": "no effect: there are no reporters of events",
    "external-resource.": "no effect: resources belong to Spark's executors, set spark.executor.resource.*",
    "containerized.": "no effect: Spark brings the job to the cluster, set spark.executorEnv.*",
    "env.": "no effect: processes are Spark's, set spark.executor.extraJavaOptions and spark.executorEnv.*",
    "flink.hadoop.": "refused: Spark passes settings to Hadoop, write spark.hadoop.*",
    "flink.yarn.": "refused: Spark passes settings to Hadoop, write spark.hadoop.*",
    "kubernetes.": "no effect: Spark brings the job to the cluster, set spark.kubernetes.*",
    "yarn.": "no effect: Spark brings the job to the cluster, set spark.yarn.*",
}


@functools.cache
def flink_options() -> dict[str, Option]:
    """By key. Sections of the file begin with a status in brackets, its lines are: key, type, default."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    found: dict[str, Option] = {}
    status = ""
    for line in filter(None, text.splitlines()):
        if line.startswith("["):
            status = line[1:-1]
            continue
        key, kind, *rest = line.split(" ", 2)
        default = rest[0] if rest else None
        found[key] = Option(key, kind, default, "", status, () if default is None else (default,))
    return found
