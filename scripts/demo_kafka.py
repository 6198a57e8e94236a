"""make demo-kafka: starts a broker and a database, runs examples/kafka_page_views.py, kills it, resumes, compares."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.services.kafka import KafkaBroker, committed_messages, create_topic, kafka_broker, produce  # noqa: E402

VIEWS = 200_000
WINDOW_MS = 10_000
BROKEN = b"connection reset by peer"


def main() -> int:
    with contextlib.ExitStack() as running:
        say("starting Kafka")
        broker = running.enter_context(kafka_broker())
        create_topic(broker, 4, "page-views")
        create_topic(broker, 2, "view-counts")
        database = running.enter_context(_database())
        home = running.enter_context(tempfile.TemporaryDirectory(prefix="penstock-demo-"))
        truth = write_views(broker)
        say(f"wrote {VIEWS:,} page views, some of them broken, to the topic page-views")
        job = Job(broker, database, home)
        first = job.start()
        running.callback(lambda: job.kill(first))
        wait_for_results(broker, first)
        job.kill(first)
        say(f"killed the job (kill -9) with {len(committed_messages(broker, 'view-counts')):,} results in Kafka")
        again = job.start()
        running.callback(lambda: job.kill(again))
        say("started it again with the same job id")
        if again.wait() != 0:
            say("the job failed")
            return 1
        return compare(broker, database, truth)


def say(text: str) -> None:
    print(f"demo: {text}", flush=True)


@contextlib.contextmanager
def _database() -> Any:
    """PostgreSQL, where it can be started; the demo goes without it elsewhere."""
    try:
        from tests.services.postgres import postgres_server
    except ImportError:
        yield None
        return
    say("starting PostgreSQL")
    with postgres_server() as server:
        server.execute('create table counts (app text, "until" bigint, views bigint)')
        yield server


def write_views(broker: KafkaBroker) -> Counter[tuple[str, int]]:
    """Returns what must come out: views by app and end of window."""
    chance, start = random.Random(20261116), int(time.time()) * 1000 - 3_600_000
    truth: Counter[tuple[str, int]] = Counter()
    messages = []
    for number in range(VIEWS):
        moment = start + number * 10
        if number % 50_000 == 7:
            messages.append({"value": BROKEN, "timestamp": moment})
            continue
        app = f"app-{min(chance.randrange(12), chance.randrange(12)):02d}"
        view = json.dumps({"app": app, "page": chance.choice(["/home", "/cart"])}).encode()
        messages.append({"value": view, "key": app.encode(), "timestamp": moment})
        truth[app, (moment // WINDOW_MS + 1) * WINDOW_MS] += 1
    produce(broker, "page-views", messages)
    return truth


class Job:
    """The example, always under the same id."""

    def __init__(self, broker: KafkaBroker, database: Any, home: str) -> None:
        program = [str(ROOT / "examples" / "kafka_page_views.py"), "--servers", broker.address, "--until-now"]
        if database is not None:
            from tests.services.postgres import PASSWORD, USER

            program += ["--postgres", database.jdbc_url, "--user", USER, "--password", PASSWORD]
        penstock = Path(sys.executable).with_name("penstock")
        options = ["--job-id", uuid.uuid4().hex, "-Dparallelism.default=2", "-Dpenstock.epoch.max-records=20000"]
        self._command = [str(penstock), "run", *options, *program]
        self._environment = {**os.environ, "PENSTOCK_HOME": home}

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, env=self._environment, start_new_session=True)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_results(broker: KafkaBroker, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not committed_messages(broker, "view-counts"):
        time.sleep(0.2)


def compare(broker: KafkaBroker, database: Any, truth: Counter[tuple[str, int]]) -> int:
    found = {"Kafka": [_row(message) for message in committed_messages(broker, "view-counts")]}
    if database is not None:
        found["PostgreSQL"] = database.query('select app, "until", views from counts')
    expected = sorted((app, until, views) for (app, until), views in truth.items())
    for system, rows in found.items():
        same = sorted(rows) == expected
        views = sum(views for _, _, views in rows)
        say(f"{system}: {len(rows):,} results, {views:,} views: {'equal to the truth' if same else 'WRONG'}")
    return 0 if all(sorted(rows) == expected for rows in found.values()) else 1


def _row(message: Any) -> tuple[str, int, int]:
    value = json.loads(message.value())
    return value["app"], value["until"], value["views"]


if __name__ == "__main__":
    sys.exit(main())
