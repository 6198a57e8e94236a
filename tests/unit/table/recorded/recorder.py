"""Writes down what the real Flink gives for the statements here: recorder.py [--new] [FILE.txt ..], with PyFlink."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, ExplainDetail, TableEnvironment

sys.path.insert(0, str(Path(__file__).parent))
from statement_runs import read, run, write

NEW = "##NEW"  # with --new only statements with this line under them run, and those that make tables
SETS_UP = re.compile(r"(CREATE|SET|USE|ALTER|DROP)\b")


def printed(action: Callable[[], None]) -> str:
    """What is printed goes to the standard output of the JVM."""
    java = get_gateway().jvm.java
    text, before = java.io.ByteArrayOutputStream(), java.lang.System.out
    java.lang.System.setOut(java.io.PrintStream(text, True, "UTF-8"))
    try:
        action()
    finally:
        java.lang.System.setOut(before)
    return str(text.toString("UTF-8"))


def started_cluster() -> dict[str, str]:
    """One cluster for all statements, in the gateway's JVM: to start one for each would take most of the time."""
    jvm = get_gateway().jvm
    configuration = jvm.org.apache.flink.configuration.Configuration()
    configuration.setString("rest.port", "0")
    minicluster = jvm.org.apache.flink.runtime.minicluster
    builder = minicluster.MiniClusterConfiguration.Builder().setConfiguration(configuration)
    cluster = minicluster.MiniCluster(builder.setNumTaskManagers(1).setNumSlotsPerTaskManager(4).build())
    cluster.start()
    address = cluster.getRestAddress().get()
    return {"execution.target": "remote", "rest.address": address.getHost(), "rest.port": str(address.getPort())}


def cause_of(error: BaseException) -> str:
    """The innermost message of Java's chain, on one line."""
    text = str(error)
    found = [line for line in text.splitlines() if line.strip().startswith("Caused by:")]
    own = [line[2:] for line in text.splitlines() if line.startswith(": ")]
    last = found[-1].strip()[len("Caused by: ") :] if found else (own or text.splitlines() or [""])[0]
    return last[:300]


def record(path: Path, options: dict[str, str], only_new: bool) -> None:
    batch = path.name.startswith("batch")
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    session = TableEnvironment.create(settings)
    for key, value in {"parallelism.default": "1", "table.local-time-zone": "UTC", **options}.items():
        session.get_config().set(key, value)
    recorded = []
    with tempfile.TemporaryDirectory() as out:
        for level, statement, known in read(path):
            if known[:1] != [NEW] and only_new and not SETS_UP.match(statement):
                recorded.append((level, statement, known))
                continue
            print(statement[:150], flush=True)
            try:
                lines = run(session, statement, Path(out), printed, ExplainDetail.CHANGELOG_MODE)
            except Exception as error:
                lines = [f"##ERROR {cause_of(error)}"]
            recorded.append((level, statement, lines))
    write(path, recorded)


cluster = started_cluster()
for name in [one for one in sys.argv[1:] if one != "--new"] or sorted(map(str, Path(__file__).parent.glob("*.txt"))):
    record(Path(name), cluster, "--new" in sys.argv)
