"""How each contestant is started: a command and its environment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import settings

PROGRAMS = Path(__file__).parent / "programs"

TITLES = {
    "penstock": "Penstock",
    "penstock_builtin": "Penstock, built-in aggregation",
    "penstock_micro_batch": "Penstock, micro-batches",
    "penstock_sql": "Penstock SQL",
    "pyflink_process": "PyFlink, process mode",
    "pyflink_thread": "PyFlink, thread mode",
    "pyflink_thread_rocksdb": "PyFlink, thread mode, RocksDB",
    "flink_sql": "Flink SQL (JVM)",
    "flink_sql_rocksdb": "Flink SQL (JVM), RocksDB",
    "spark": "plain PySpark",
    "loop": "bare Python loop, 1 process",
    "duckdb": "DuckDB, one query",
}


def is_flink(contestant: str) -> bool:
    return contestant.startswith(("pyflink", "flink"))


@dataclass(frozen=True)
class Launch:
    command: list[str]
    environment: dict[str, str]


def launch(
    contestant: str,
    case: str,
    source: Path,
    sink: Path,
    work: Path,
    job_id: str | None = None,
    program: str | None = None,
    **more: str,
) -> Launch:
    """`more` are options of the job for this run only; `program` is the part of the file that is run."""
    program = program or settings.PROGRAMS.get(case, case)
    arguments = [str(source), str(sink)]
    environment = {**os.environ, "BENCH_SETTINGS": json.dumps(numbers(case)), "PYTHONUNBUFFERED": "1"}
    if contestant.startswith("penstock"):
        program = f"{program}_builtin" if contestant.endswith("builtin") else program
        command, own = penstock_command(contestant, work, {**settings.TABLES.get(case, {}), **more})
        command += ["--job-id", job_id] if job_id else []
        return Launch([*command, str(_script(contestant, case)), program, *arguments], {**environment, **own})
    if is_flink(contestant):
        environment |= flink_environment_of(contestant, case, work, more)
        python = settings.flink_environment() / "bin" / "python"
        return Launch([str(python), str(_script(contestant, case)), program, *arguments], environment)
    if contestant == "spark":
        environment["BENCH_CONFIGURATION"] = json.dumps({**settings.SPARK, "spark.local.dir": str(work / "local")})
        environment["BENCH_CHECKPOINT"] = str(work / "checkpoint")
        environment["PYSPARK_PYTHON"] = environment["PYSPARK_DRIVER_PYTHON"] = sys.executable
        environment["JAVA_HOME"] = _java_home()
        return Launch([sys.executable, str(PROGRAMS / "spark.py"), program, *arguments], environment)
    if contestant == "duckdb":
        environment["PYTHONPATH"] = str(settings.PACKAGES)
        return Launch([sys.executable, str(PROGRAMS / "duck.py"), program, *arguments], environment)
    return Launch([sys.executable, str(PROGRAMS / "loop.py"), program, *arguments], environment)


def penstock_command(
    contestant: str, work: Path, more: Mapping[str, str] | None = None
) -> tuple[list[str], dict[str, str]]:
    """How a PyFlink program is run on Penstock: the command before it, and the environment."""
    engine = {"penstock.engine": "micro-batch"} if contestant.endswith("micro_batch") else {}
    environment = {**os.environ, "PENSTOCK_HOME": str(work / "home")}
    environment["BENCH_CONFIGURATION"] = json.dumps({**settings.PENSTOCK, **engine, **(more or {})})
    return [str(Path(sys.executable).parent / "penstock"), "run", "--pyflink"], environment


def flink_environment_of(contestant: str, case: str, work: Path, more: Mapping[str, str]) -> dict[str, str]:
    home = settings.flink_environment()
    environment = dict(os.environ)
    configuration = {
        **settings.FLINK,
        **settings.TABLES.get(case, {}),
        "execution.checkpointing.dir": (work / "checkpoints").as_uri(),
    }
    configuration["io.tmp.dirs"] = str(work)
    if "thread" in contestant:
        configuration |= settings.FLINK_THREAD
        environment["PYTHONPATH"] = str(next(home.glob("lib/python3*/site-packages")))
    if contestant.endswith("rocksdb"):
        configuration |= settings.FLINK_ROCKSDB
    if case in settings.LATENCY_RECORDS_PER_SECOND:
        configuration["execution.checkpointing.interval"] = f"{settings.LATENCY_COMMIT_MS} ms"
    environment["BENCH_CONFIGURATION"] = json.dumps({**configuration, **more})
    environment["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment["JAVA_HOME"] = _java_home()
    environment["JVM_ARGS"] = f"-Xmx{settings.HEAP}"
    environment["FLINK_LOG_DIR"] = str(work)
    return environment


def _script(contestant: str, case: str) -> Path:
    if case == "nexmark":
        return PROGRAMS / "nexmark.py"
    return PROGRAMS / ("flink_sql.py" if "_sql" in contestant else "datastream.py")


def numbers(case: str) -> dict[str, int]:
    return {
        "parallelism": settings.PARALLELISM,
        "commit_ms": settings.COMMIT_MS,
        "disorder_ms": settings.DISORDER_MS,
        "gap_ms": settings.SESSION_GAP_MS,
        "cep_small": settings.CEP_SMALL,
        "cep_large": settings.CEP_LARGE,
        "cep_within_ms": settings.CEP_WITHIN_MS,
        "hop_groups": settings.HOP_GROUPS,
        "hop_regions": settings.HOP_REGIONS,
        "discovery_ms": settings.DISCOVERY_MS,
        "files_per_trigger": settings.SPARK_FILES_PER_TRIGGER.get(case, 1),
    }


def _java_home() -> str:
    """Penstock's choice, for all: the machine's Java, or the one that setup has installed."""
    from penstock.engines.spark.java import java_home

    return java_home()
