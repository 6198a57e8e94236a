"""The one registry of options: Flink's keys that have a story of their own, and Penstock's.

The many that have none, because Spark does what they are for, are data in flink_options.txt.
"""

from __future__ import annotations

import difflib
import warnings
from typing import TYPE_CHECKING, Any

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.flink_options import PREFIXES, flink_options
from penstock.common.java_archives import unknown_jars
from penstock.common.option import WORKS, Option
from penstock.common.option_values import (
    PARSERS,
    bytes_of,
    parse_boolean,
    parse_duration,
    parse_list,
    parse_map,
)

if TYPE_CHECKING:
    from penstock.common.configuration import Configuration

__all__ = [
    "AUTO",
    "MICRO_BATCH",
    "OPTIONS",
    "RESIDENT",
    "WORKS",
    "Option",
    "bytes_of",
    "find_option",
    "known_options",
    "parse_boolean",
    "parse_duration",
    "parse_list",
    "parse_map",
    "parse_value",
    "validate",
    "validate_key",
    "value_of",
]

AUTO, MICRO_BATCH, RESIDENT = "auto", "micro-batch", "resident"  # engines

_NO_ALIGNMENT = "no effect: epochs are sized by their work, so that barriers do not wait long and need not overtake"
_NO_INCREMENTS = "no effect: a checkpoint holds the whole state; what recovers the job itself holds only changes always"
_WRITES_PARTS = "no effect: every subtask writes its state into one file of its own, beside the metadata"
_OWN_TUNING = "no effect: RocksDB is tuned as a working copy; set state.backend.rocksdb.memory.fixed-per-slot"
_NO_TRANSFER = "no effect: subtasks write and read their own parts, there are no files of RocksDB to move"
_NO_BUNDLES = "no effect: records go through the Python operators in chunks, see penstock.chunk.records"
_NO_BUFFERS = "no effect: in micro-batches records travel at the end of each epoch; see penstock.engine"
_ONLY_RESIDENT = "no effect: micro-batches have no tasks of their own, see penstock.engine"
_NO_JARS = (
    "refused: no Java code of Flink runs on Penstock; Spark takes jars through spark.jars. Those of Flink's connectors"
    " and formats have no effect, as Penstock has its own"
)
_JAVA_OBJECTS = "no effect: it concerns Java objects; Python objects are pickled, or travel as Arrow"
_CANCELLING = "no effect: Spark ends the tasks of a cancelled job itself"
_SPARK_MEMORY = "no effect: memory belongs to Spark's executors, set spark.executor.memory"


def _known_jars(paths: list[str]) -> str | None:
    return None if unknown_jars(paths) else "no effect: connectors and formats are Python here"


OPTIONS: tuple[Option, ...] = (
    Option("parallelism.default", "int", None, "Parallelism of operators that do not set their own."),
    Option("pipeline.name", "string", None, "Name of the job."),
    Option("pipeline.max-parallelism", "int", -1, "Number of key groups; -1: at least 128."),
    Option("pipeline.auto-watermark-interval", "duration", 200, "How often periodic generators emit."),
    Option("pipeline.operator-chaining.enabled", "bool", True, "Whether neighbours run in one task."),
    Option("pipeline.operator-chaining", "bool", True, "Older name of pipeline.operator-chaining.enabled."),
    Option("pipeline.global-job-parameters", "map", None, "Parameters that every function can see."),
    Option("pipeline.object-reuse", "bool", False, "Whether objects are handed on without a copy.",
           "no effect: inside a chain objects are always handed on without a copy", ("true", "false")),
    Option("pipeline.auto-generate-uids", "bool", True, "Whether operators without uid get one."),
    Option("pipeline.generic-types", "bool", True, "Whether untyped streams are allowed."),
    Option("pipeline.jars", "list", None, "Java archives of the job.", _NO_JARS, needless=_known_jars),
    Option("pipeline.classpaths", "list", None, "Class path of the job.", _NO_JARS, needless=_known_jars),
    Option("pipeline.closure-cleaner-level", "string", "RECURSIVE", "Java's closure cleaner.",
           "no effect: Python closures are pickled as they are"),
    Option("pipeline.force-kryo", "bool", False, "Whether Kryo serializes everything.", _JAVA_OBJECTS, ("false",)),
    Option("pipeline.force-avro", "bool", False, "Whether Avro serializes everything.", _JAVA_OBJECTS, ("false",)),
    Option("task.cancellation.interval", "duration", 30000, "Pause between attempts to cancel a task.", _CANCELLING),
    Option("task.cancellation.timeout", "duration", 180000, "When a task that does not end is killed.", _CANCELLING),
    Option("execution.runtime-mode", "string", "STREAMING", "STREAMING, BATCH or AUTOMATIC."),
    Option("execution.attached", "bool", True, "Whether the client waits for the job.",
           "no effect: execute() waits and execute_async() does not"),
    Option("execution.target", "string", "local", "Where the job runs.",
           "no effect: the place is a Spark master, set spark.master", ("local",)),
    Option("execution.buffer-timeout", "duration", 5, "When chunks are sent that are not full.", _NO_BUFFERS,
           resident=True),
    Option("execution.buffer-timeout.enabled", "bool", True, "Whether chunks are sent that are not full.", _NO_BUFFERS,
           resident=True),
    Option("execution.buffer-timeout.interval", "duration", 5, "When chunks are sent that are not full.", _NO_BUFFERS,
           resident=True),
    Option("execution.checkpointing.interval", "duration", None,
           "How often a checkpoint is written; also turns restarts on. Every epoch is a recovery point besides."),
    Option("execution.checkpointing.mode", "string", "EXACTLY_ONCE",
           "EXACTLY_ONCE or AT_LEAST_ONCE; micro-batches are exactly once, which fulfils both.",
           "refused: give EXACTLY_ONCE or AT_LEAST_ONCE", ("EXACTLY_ONCE", "AT_LEAST_ONCE")),
    Option("execution.checkpointing.timeout", "duration", 600000,
           "When a checkpoint or savepoint is given up, and counts as failed."),
    Option("execution.checkpointing.min-pause", "duration", 0, "Pause between two checkpoints."),
    Option("execution.checkpointing.max-concurrent-checkpoints", "int", 1, "Checkpoints at one time.",
           "no effect: epochs follow each other, so that there is never more than one", ("1",)),
    Option("execution.checkpointing.tolerable-failed-checkpoints", "int", 0, "Failures in a row that are ignored."),
    Option("execution.checkpointing.unaligned", "bool", False, "Whether barriers overtake records.",
           _NO_ALIGNMENT, ("false",)),
    Option("execution.checkpointing.unaligned.enabled", "bool", False, "Whether barriers overtake records.",
           _NO_ALIGNMENT, ("false",)),
    Option("execution.checkpointing.unaligned.forced", "bool", False, "Whether they do in every job.",
           _NO_ALIGNMENT, ("false",)),
    Option("execution.checkpointing.snapshot-compression", "bool", False, "Whether snapshots are compressed.",
           "no effect: set spark.sql.streaming.stateStore.compression.codec", ("false",)),
    Option("execution.checkpointing.aligned-checkpoint-timeout", "duration", 0, "When to go unaligned.",
           _NO_ALIGNMENT),
    Option("execution.checkpointing.externalized-checkpoint-retention", "string", "NO_EXTERNALIZED_CHECKPOINTS",
           "RETAIN_ON_CANCELLATION keeps the checkpoints of a cancelled job, DELETE_ON_CANCELLATION does not."),
    Option("execution.checkpointing.dir", "string", None, "Where checkpoints are written."),
    Option("execution.checkpointing.storage", "string", None, "filesystem (the default), or jobmanager for checkpoints "
           "of small states: see penstock.checkpoint.max-state-size."),
    Option("execution.checkpointing.data-inline-threshold", "memory", "20kb", "What goes into the metadata file.",
           _WRITES_PARTS),
    Option("execution.checkpointing.write-buffer-size", "int", 4096, "Bytes that are written at once.", _WRITES_PARTS),
    Option("execution.checkpointing.num-retained", "int", 1, "How many checkpoints are kept."),
    Option("execution.checkpointing.savepoint-dir", "string", None, "Newer name of state.savepoints.dir."),
    Option("execution.checkpointing.incremental", "bool", False, "Whether only changes are written.",
           _NO_INCREMENTS, ("false",)),
    Option("execution.state-recovery.path", "string", None,
           "The savepoint to start from; one on the command line (penstock run -s PATH) comes first."),
    Option("execution.savepoint.path", "string", None, "Older name of execution.state-recovery.path."),
    Option("execution.state-recovery.ignore-unclaimed-state", "bool", False,
           "Leaves out state of the savepoint whose operator is not in the program any more."),
    Option("execution.savepoint.ignore-unclaimed-state", "bool", False,
           "Older name of execution.state-recovery.ignore-unclaimed-state."),
    Option("state.backend.type", "string", None, "hashmap (in memory, the default) or rocksdb (on disk). Older names: "
           "filesystem is hashmap; jobmanager or memory is hashmap with the checkpoint storage jobmanager."),
    Option("state.backend", "string", None, "Older name of state.backend.type."),
    Option("state.backend.rocksdb.localdir", "string", None,
           "Where workers keep their working copies of state on disk; by default with temporary files. Subtasks "
           "share several directories, with commas between them, in turn."),
    Option("state.backend.rocksdb.memory.fixed-per-slot", "memory", "96m",
           "Memory for one subtask's state on disk: half of it for RocksDB, half for values in use."),
    Option("state.backend.rocksdb.timer-service.factory", "string", "HEAP", "Where timers are kept.",
           "no effect: timers are kept in memory, and saved with the state", ("HEAP",)),
    Option("state.backend.rocksdb.predefined-options", "string", "DEFAULT", "A set of tuning options.",
           _OWN_TUNING, ("DEFAULT",)),
    Option("state.backend.rocksdb.checkpoint.transfer.thread.num", "int", 4, "Threads that move RocksDB's files.",
           _NO_TRANSFER, ("4",)),
    Option("state.backend.incremental", "bool", False, "Whether only changes are written.",
           _NO_INCREMENTS, ("false",)),
    Option("state.changelog.enabled", "bool", False, "Whether changes of state are written as they happen.",
           "no effect: state is always written as a log of changes, there is no second one", ("false",)),
    Option("state.checkpoint-storage", "string", None, "Older name of execution.checkpointing.storage."),
    Option("state.storage.fs.memory-threshold", "memory", "20kb", "What goes into the metadata file.", _WRITES_PARTS),
    Option("state.storage.fs.write-buffer-size", "int", 4096, "Bytes that are written at once.", _WRITES_PARTS),
    Option("state.checkpoints.dir", "string", None, "Older name of execution.checkpointing.dir."),
    Option("state.checkpoints.num-retained", "int", 1, "Older name of execution.checkpointing.num-retained.",
           "refused: set execution.checkpointing.num-retained", ("1",)),
    Option("state.savepoints.dir", "string", None, "Where savepoints are written by default."),
    Option("restart-strategy.type", "string", None, "none, fixed-delay, failure-rate or exponential-delay."),
    Option("restart-strategy", "string", None, "Older name of restart-strategy.type."),
    *(Option(f"restart-strategy.{key}", kind, default, text) for key, kind, default, text in (
        ("fixed-delay.attempts", "int", 1, "Restarts before the job fails."),
        ("fixed-delay.delay", "duration", 1000, "Pause before a restart."),
        ("failure-rate.max-failures-per-interval", "int", 1, "Failures in one interval that fail the job."),
        ("failure-rate.failure-rate-interval", "duration", 60000, "The interval in which failures count."),
        ("failure-rate.delay", "duration", 1000, "Pause before a restart."),
        ("exponential-delay.initial-backoff", "duration", 1000, "First pause."),
        ("exponential-delay.max-backoff", "duration", 60000, "Longest pause."),
        ("exponential-delay.backoff-multiplier", "float", 1.5, "Factor from pause to pause."),
        ("exponential-delay.reset-backoff-threshold", "duration", 3600000, "Quiet time for a reset."),
        ("exponential-delay.jitter-factor", "float", 0.1, "Random part of the pause."),
        ("exponential-delay.attempts-before-reset-backoff", "int", 2**31 - 1, "Restarts before the job fails."),
    )),
    Option("python.files", "list", None, "Python files and packages that functions import."),
    Option("python.requirements", "string", None, "Requirements file, with an optional cache after '#'."),
    Option("python.archives", "list", None, "Archives that are unpacked beside the functions."),
    Option("python.executable", "string", None, "Python of the workers."),
    Option("python.client.executable", "string", None, "Python of the client.",
           "no effect: the program itself is the client"),
    Option("python.pythonpath", "string", None, "Directories with modules that functions import, with : between them."),
    Option("python.execution-mode", "string", "process", "process or thread.",
           "no effect: operators always run in Spark's Python workers"),
    *(Option(f"python.{key}", kind, default, text, _NO_BUNDLES) for key, kind, default, text in (
        ("fn-execution.bundle.size", "int", 1000, "Records in one bundle."),
        ("fn-execution.bundle.time", "duration", 1000, "Longest wait for a bundle."),
        ("fn-execution.arrow.batch.size", "int", 1000, "Records in one Arrow batch."),
        ("fn-execution.streaming.enabled", "bool", True, "Whether bundles are streamed."),
        ("state.cache-size", "int", 1000, "Cached states per task."),
        ("map-state.read-cache-size", "int", 1000, "Cached entries."),
        ("map-state.write-cache-size", "int", 1000, "Cached entries."),
        ("map-state.iterate-response-batch-size", "int", 1000, "Entries per answer."),
        ("operator-chaining.enabled", "bool", True, "Python's own chaining."),
        ("fn-execution.memory.managed", "bool", True, "Whether workers use managed memory."),
    )),
    Option("python.metric.enabled", "bool", True, "Whether metrics of Python functions count.",
           "no effect: they are always counted", ("true",)),
    Option("python.profile.enabled", "bool", False, "Whether workers are profiled.",
           "no effect: flame graphs show where functions spend their time, see rest.flamegraph.enabled", ("false",)),
    Option("python.systemenv.enabled", "bool", True, "Whether workers see the environment.",
           "refused: workers always see the environment that Spark gives them", ("true",)),
    Option("python.logging.default.level", "string", "INFO", "From which level on messages of functions are logged."),
    Option("python.logging.level.overrides", "map", None,
           "Other levels for some loggers, such as my.module:DEBUG,urllib3:ERROR."),
    Option("metrics.reporters", "list", None,
           "Reporters in use; without it, all that metrics.reporter.<name>.* describes."),
    Option("metrics.scope.jm", "string", "<host>.jobmanager", "Names of metrics of the driver."),
    Option("metrics.scope.jm-job", "string", "<host>.jobmanager.<job_name>", "Names of metrics of a job."),
    Option("metrics.scope.tm", "string", "<host>.taskmanager.<tm_id>", "Names of metrics of a worker."),
    Option("metrics.scope.operator", "string", "<host>.taskmanager.<tm_id>.<job_name>.<operator_name>.<subtask_index>",
           "Names of metrics of an operator's subtask."),
    Option("metrics.scope.delimiter", "string", ".", "What stands between the parts of a name."),
    Option("metrics.latency.interval", "duration", 0,
           "How often sources send markers that measure how long records are under way; 0: never."),
    Option("taskmanager.numberOfTaskSlots", "int", 1, "Slots.", "no effect: set Spark's cores, spark.master"),
    Option("taskmanager.memory.process.size", "memory", None, "Memory.", _SPARK_MEMORY),
    Option("taskmanager.memory.managed.size", "memory", None, "Memory.", _SPARK_MEMORY),
    Option("taskmanager.memory.task.off-heap.size", "memory", None, "Memory.", _SPARK_MEMORY),
    Option("taskmanager.memory.network.fraction", "float", 0.1, "Memory.", _SPARK_MEMORY),
    Option("jobmanager.memory.process.size", "memory", None, "Memory.", _SPARK_MEMORY),
    Option("penstock.epoch.target-ms", "int", 1000, "How long one epoch should take under backlog."),
    Option("penstock.epoch.max-records", "int", 4_000_000, "Most records that one epoch reads."),
    Option("penstock.epoch.initial-records", "int", 100,
           "Records that the first epoch reads: few, because nobody knows yet how slow the operators are."),
    Option("penstock.chunk.records", "int", 32_768, "Records in one chunk between two tasks."),
    Option("penstock.checkpoint.max-state-size", "memory", "5m",
           "With the checkpoint storage jobmanager: most bytes that a state of a subtask may have in a checkpoint."),
    Option("penstock.home", "string", None, "Directory of jobs, logs and state; default ~/.penstock."),
    Option("penstock.cluster.slots", "int", None,
           "How many slots a manager gives to jobs, each of which takes as many as its parallelism; default: two for "
           "each core."),
    Option("rest.port", "int", 8081, "Port of the manager's REST interface and web page."),
    Option("rest.bind-address", "string", "127.0.0.1", "The address on which the manager listens."),
    Option("rest.server.max-content-length", "int", 104857600, "Most bytes that an uploaded program may have."),
    Option("penstock.rest.token", "bool", True, "Whether requests to the manager need its token."),
    Option("security.ssl.rest.enabled", "bool", False, "Whether the manager speaks TLS."),
    Option("penstock.rest.certificate", "string", None, "File with the manager's certificate, in PEM."),
    Option("penstock.rest.key", "string", None, "File with the key of the certificate, in PEM."),
    Option("env.pid.dir", "string", None, "Where the manager writes its process id; default: its home."),
    Option("env.log.dir", "string", None, "Where the manager writes its log; default: logs in its home."),
    Option("rest.flamegraph.enabled", "bool", False,
           "Whether workers sample the stacks of operators for flame graphs. Jobs of a manager, and with --ui, do."),
    Option("rest.flamegraph.delay-between-samples", "duration", 50, "How often stacks are looked at."),
    Option("penstock.engine", "string", AUTO,
           "micro-batch: epochs of a Spark query. resident: long-running tasks on Spark, milliseconds of latency. "
           "auto: resident where Penstock starts a local Spark, else micro-batch; a job that goes on keeps its engine.",
           "refused: give auto, micro-batch or resident", (AUTO, MICRO_BATCH, RESIDENT)),
    Option("penstock.resident.epoch-interval", "duration", 20, "Least time between two epochs.",
           _ONLY_RESIDENT, resident=True),
    Option("penstock.resident.slot-timeout", "duration", 60000,
           "How long the job waits for its slots before it fails.", _ONLY_RESIDENT, resident=True),
    Option("penstock.resident.heartbeat-timeout", "duration", 15000,
           "When a task that says nothing is replaced.", _ONLY_RESIDENT, resident=True),
    Option("penstock.resident.state-dir", "string", None,
           "Where tasks keep their state: a directory or store that all machines reach, such as s3://bucket/state; "
           "default: in the job's home.", _ONLY_RESIDENT, resident=True),
    Option("penstock.resident.ports", "string", "0",
           "Ports for connections between tasks and with the driver, such as 40000-40100; 0: any.", _ONLY_RESIDENT,
           resident=True),
    Option("table.local-time-zone", "string", "default", "The time zone of SQL: of TIMESTAMP_LTZ and of clocks."),
    Option("table.exec.source.idle-timeout", "duration", 0, "After how long a table without rows is idle; 0: never."),
    Option("table.exec.sink.not-null-enforcer", "string", "ERROR",
           "What NULL in a NOT NULL column of a sink does: ERROR, or DROP the row."),
    Option("table.exec.async-lookup.buffer-capacity", "int", 100, "Rows at a time that lookup joins ask for."),
    Option("table.exec.async-lookup.output-mode", "string", "ORDERED",
           "ORDERED, or ALLOW_UNORDERED: whether rows of a lookup join may overtake each other."),
    Option("table.exec.async-lookup.timeout", "duration", 180000, "When an answer to a lookup join is overdue."),
    Option("table.exec.state.ttl", "duration", 0, "After how long state of SQL that nobody used is dropped; 0: never."),
    Option("table.exec.mini-batch.enabled", "bool", False, "Whether groups tell changes of many rows at once."),
    Option("table.exec.mini-batch.size", "int", -1, "After how many rows at most groups tell their changes."),
    Option("table.exec.mini-batch.allow-latency", "duration", 0, "After how long at most groups tell their changes."),
    Option("table.exec.sink.upsert-materialize", "string", "AUTO",
           "Whether rows of one primary key that the query tells apart are kept before a sink: AUTO, FORCE or NONE."),
    Option("table.exec.source.cdc-events-duplicate", "bool", False,
           "Whether sources of changes may tell one again: tables with a PRIMARY KEY then keep the row of each key."),
    Option("table.dml-sync", "bool", False, "Whether INSERT waits until its job has ended."),
    Option("sql-client.execution.result-mode", "string", "TABLE",
           "How penstock sql shows rows: TABLE, CHANGELOG or TABLEAU."),
    Option("sql-client.execution.max-table-result.rows", "int", 1000000, "How many rows the result mode TABLE keeps."),
    Option("sql-client.verbose", "bool", False, "Whether penstock sql shows where an error came from."),
    Option("sql-client.display.print-time-cost", "bool", True, "Whether penstock sql says how long a query took."),
    Option("spark.master", "string", "local[*]", "The Spark master that runs the job."),
)  # fmt: skip

_BY_KEY = {option.key: option for option in OPTIONS}
_PASSED_TO_SPARK = "spark."
# A key under one of these prefixes belongs to Flink or Penstock, so that an unknown one is a mistake.
_OWN_PREFIXES = (
    "pipeline.", "execution.", "state.", "restart-strategy.", "python.", "metrics.", "taskmanager.", "jobmanager.",
    "penstock.", "parallelism.", "table.", "cluster.", "rest.", "heartbeat.", "io.",
)  # fmt: skip
_NEAR_MISS = 0.85
_warned: set[str] = set()


def known_options() -> dict[str, Option]:
    """All of them, those of this file first."""
    return _BY_KEY | flink_options()


def find_option(key: str) -> Option | None:
    found = _BY_KEY.get(key) or flink_options().get(key)
    if found is None and key.startswith(tuple(PREFIXES)):
        status = next(status for prefix, status in PREFIXES.items() if key.startswith(prefix))
        return Option(key, "string", None, "One of many whose names the program chooses.", status)
    return found


def validate_key(key: str) -> None:
    """Raises ConfigurationError for a key that is neither in the registry nor Spark's."""
    if find_option(key) is None and not key.startswith(_PASSED_TO_SPARK):
        raise ConfigurationError(_unknown_key_text(key))


def validate(configuration: Configuration) -> None:
    """Called when a job starts: refuses mistakes and what is not there, warns once of what has no effect.

    Keys that resemble no option and lie under no prefix of Flink or Penstock are the user's own and pass.
    """
    resident = value_of(configuration, "penstock.engine") != MICRO_BATCH  # what is still open is looked at again
    for key, text in sorted(configuration.to_dict().items()):
        if key.startswith(_PASSED_TO_SPARK) and key not in _BY_KEY:
            continue
        option = find_option(key)
        if option is not None and not (option.resident and resident):
            _validate_value(option, text)
        elif option is not None:
            parse_value(option, text)
        elif key.startswith(_OWN_PREFIXES) or _nearest(key):
            raise ConfigurationError(_unknown_key_text(key))


def value_of(configuration: Configuration, key: str) -> Any:
    """The value of a registered option in its own type (durations in milliseconds), or its default."""
    option = _BY_KEY[key]
    text = configuration.get_string(key, None)
    return option.default if text is None else parse_value(option, text)


def parse_value(option: Option, text: str) -> Any:
    try:
        return PARSERS[option.type](text)
    except ValueError as error:
        raise ConfigurationError(
            f"Option {option.key!r} takes a value of type {option.type}, {text!r} is none ({error})."
        ) from None


def _validate_value(option: Option, text: str) -> None:
    status = option.needless(parse_value(option, text)) or option.status
    if status == WORKS or text.strip().lower() in {value.lower() for value in option.already_true}:
        return
    if status.startswith("no effect"):
        if option.key not in _warned:
            _warned.add(option.key)
            warnings.warn(_sentence(option.key, text, status), stacklevel=3)
        return
    raise NotSupportedError(_sentence(option.key, text, status))


def _sentence(key: str, text: str, status: str) -> str:
    kind, _, reason = status.partition(": ")
    opening = {"later": "is not supported yet", "refused": "is refused"}.get(kind, f"has {kind}")
    return f"Option {key!r} (set to {text!r}) {opening}: {reason}."


def _nearest(key: str, cutoff: float = _NEAR_MISS) -> str | None:
    return next(iter(difflib.get_close_matches(key, known_options(), n=1, cutoff=cutoff)), None)


def _unknown_key_text(key: str) -> str:
    nearest = _nearest(key, cutoff=0.5)
    hint = f"Did you mean {nearest!r}?" if nearest else "No known option resembles it."
    return f"Unknown option {key!r}. {hint} Parameters of your own belong in the global job parameters."
