"""What a manager would say of an empty cluster, of a few jobs, and of jobs of any size and state."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
JOB = "3f6c1a9be04d4d3a8c75d7b3a1f0c2e4"


def now() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Operator:
    id: str
    name: str
    chain: str
    inputs: Sequence[tuple[str, str]] = ()
    busy: float = 0.2
    pressed: float = 0.0
    rate: float = 12_400.0
    parallelism: int = 4
    status: str = "RUNNING"


PAGE_VIEWS = (
    Operator("views", "Source: page views", "Source: page views -> parse", (), 0.18, 0.71),
    Operator("parse", "parse", "Source: page views -> parse", (("views", "FORWARD"),), 0.22, 0.68, 12_310.0),
    Operator("apps", "Source: names of apps", "Source: names of apps", (), 0.01, 0.0, 0.4, 1),
    Operator("count", "count views by app and minute", "count views by app and minute", (("parse", "HASH"),), 0.98),
    Operator("late", "late views", "late views -> Sink: late", (("parse", "REBALANCE"),), 0.02, 0.0, 3.2),
    Operator("late-sink", "Sink: late", "late views -> Sink: late", (("late", "FORWARD"),), 0.03, 0.0, 3.2),
    Operator("join", "join names", "join names -> Sink: totals", (("count", "HASH"), ("apps", "BROADCAST")), 0.31),
    Operator("totals", "Sink: totals", "join names -> Sink: totals", (("join", "FORWARD"),), 0.12, 0.0, 410.0),
)


def wide_graph(operators: int = 200) -> tuple[Operator, ...]:
    """Forty pipelines of five, which meet and part again."""
    graph: list[Operator] = []
    for index in range(operators):
        line, step = divmod(index, 5)
        inputs: list[tuple[str, str]] = []
        if step > 0:
            inputs.append((f"o{index - 1}", "FORWARD" if step == 1 else "HASH"))
            if step == 2 and line > 0 and line % 3 != 0:
                inputs.append((f"o{index - 6}", "REBALANCE"))
        chain = f"pipeline {line}, head" if step < 2 else f"pipeline {line}, step {step}"
        load = (index * 37 % 100) / 100
        graph.append(
            Operator(
                f"o{index}",
                f"{('read', 'parse', 'enrich', 'aggregate', 'write')[step]} events of region {line}",
                chain,
                inputs,
                load,
            )
        )
    return tuple(graph)


@dataclass(frozen=True)
class JobAnswers:
    name: str = "Page views per app"
    state: str = "RUNNING"
    id: str = JOB
    operators: Sequence[Operator] = PAGE_VIEWS
    restarts: int = 0
    started: int = field(default_factory=lambda: now() - 754_000)

    def all(self) -> Json:
        base, own = f"/jobs/{self.id}", f"/penstock/v1/jobs/{self.id}"
        answers: Json = {
            base: self.details,
            f"{base}/plan": self.plan,
            f"{base}/exceptions": self.exceptions,
            f"{base}/checkpoints": self.checkpoints,
            f"{base}/checkpoints/config": {
                "mode": "exactly_once",
                "interval": 10_000,
                "timeout": 600_000,
                "max_concurrent": 1,
            },
            f"{base}/checkpoints/details/41": lambda: {
                **_checkpoint(41),
                "tasks": {o.id: _task(o) for o in self.operators[:4]},
            },
            f"{base}/checkpoints/details/41/subtasks/count": {
                "subtasks": [
                    {
                        "index": i,
                        "status": "completed",
                        "ack_timestamp": now(),
                        "end_to_end_duration": 80 + i * 9,
                        "state_size": 910_000 >> i,
                    }
                    for i in range(4)
                ]
            },
            f"{base}/config": {
                "jid": self.id,
                "name": self.name,
                "execution-config": {
                    "restart-strategy": "fixed delay, 3 attempts, 10 s",
                    "job-parallelism": 4,
                    "object-reuse-mode": False,
                    "user-config": {"input": "/data/views", "day": "2026-11-16"},
                },
            },
            f"{own}/epochs": self.epochs,
            f"{own}/backpressure": self.back_pressure,
            f"{own}/skew": self.skew,
            f"{own}/state": {
                "epoch": 412,
                "operators": [
                    {
                        "uid": "count",
                        "name": "count views by app and minute",
                        "states": [
                            {"name": "views", "kind": "value", "keyed": True},
                            {"name": "by minute", "kind": "map", "keyed": True},
                        ],
                    },
                    {
                        "uid": "views",
                        "name": "Source: page views",
                        "states": [{"name": "offsets", "kind": "list", "keyed": False}],
                    },
                ],
            },
            f"{own}/state/count/views": {
                "epoch": 412,
                "uid": "count",
                "state": "views",
                "truncated": True,
                "entries": [
                    {
                        "key": f"app-{i}",
                        "namespace": None,
                        "value": {"total": 1700 - i * 31, "first": "2026-11-16T09:00:00"},
                    }
                    for i in range(40)
                ],
            },
            f"{own}/log": {"text": _LOG, "offset": len(_LOG)},
            f"POST {base}/savepoints": {"request-id": "s1"},
            f"{base}/savepoints/s1": {
                "status": {"id": "COMPLETED"},
                "operation": {"location": "/savepoints/savepoint-3f6c1a-9be04d4d3a8c"},
            },
            f"PATCH {base}": {},
        }
        for operator in self.operators:
            answers |= self._vertex_answers(operator)
        return answers

    def summary(self) -> Json:
        ended = self.state in ("FINISHED", "FAILED", "CANCELED")
        end = self.started + 600_000 if ended else -1
        return {
            "jid": self.id,
            "name": self.name,
            "state": self.state,
            "start-time": self.started,
            "end-time": end,
            "duration": (end if ended else now()) - self.started,
            "last-modification": now(),
            "tasks": {},
            "penstock": {
                "epoch": 412,
                "records-in": 9_412_000,
                "rate": None if ended else 12_400.0 * _wave(),
                "watermark-lag": None if ended else 2_300,
                "restarts": self.restarts,
                "backpressure": "high" if self.state == "RUNNING" else None,
                "waiting": "waits for a free slot: 4 are needed, 2 are free" if self.state == "CREATED" else None,
                "script": "/programs/page_views.py",
            },
        }

    def details(self) -> Json:
        summary = self.summary()
        return {
            **{key: summary[key] for key in ("jid", "name", "state", "start-time", "end-time", "duration")},
            "now": now(),
            "maxParallelism": 128,
            "job-type": "STREAMING",
            "isStoppable": True,
            "vertices": [self._vertex(operator) for operator in self.operators],
            "penstock": {
                **summary["penstock"],
                "parallelism": 4,
                "records-out": 410_000,
                "attempts": self._attempts(),
                "failure": _FAILURE if self.state == "FAILED" else None,
            },
        }

    def plan(self) -> Json:
        return {
            "plan": {
                "jid": self.id,
                "name": self.name,
                "nodes": [
                    {
                        "id": o.id,
                        "parallelism": o.parallelism,
                        "description": o.name,
                        "inputs": [
                            {
                                "num": n,
                                "id": source,
                                "ship_strategy": strategy,
                                "penstock": {"rate": self._rate(source)},
                            }
                            for n, (source, strategy) in enumerate(o.inputs)
                        ],
                        "penstock": {"chain": o.chain, "level": 0, "kind": "map"},
                    }
                    for o in self.operators
                ],
            }
        }

    def exceptions(self) -> Json:
        entries = [
            {
                "exceptionName": "ValueError",
                "stacktrace": _TRACEBACK,
                "timestamp": now() - 61_000 * (n + 1),
                "taskName": "parse (3/4)",
                "endpoint": "process 4711 on a",
                "penstock": {
                    "attempt": self.restarts - n - 1,
                    "state": "FAILED",
                    "operator": "parse",
                    "file": "page_views.py",
                    "line": 41,
                },
            }
            for n in range(self.restarts)
        ]
        return {"exceptionHistory": {"entries": entries, "truncated": False}}

    def checkpoints(self) -> Json:
        history = [_checkpoint(number) for number in range(44, 20, -1)]
        return {
            "counts": {"restored": 1, "total": 44, "in_progress": 1, "completed": 42, "failed": 1},
            "summary": {"end_to_end_duration": {"min": 71, "max": 412, "avg": 131, "p50": 118, "p99": 400}},
            "latest": {
                "completed": history[1],
                "savepoint": None,
                "failed": history[5],
                "restored": {
                    "id": 39,
                    "restore_timestamp": now() - 70_000,
                    "is_savepoint": False,
                    "external_path": "/checkpoints/chk-39",
                    "penstock": {"epoch": 380, "instead-of": []},
                },
            },
            "history": history,
        }

    def epochs(self) -> Json:
        end = now()
        return {
            "epochs": [
                {
                    "number": 412 - n,
                    "completed-at": end - n * 1_900,
                    "duration": 180 + int(60 * math.sin(n / 7)),
                    "records": 23_000 + int(4000 * math.cos(n / 9)),
                    "bytes": 81_000,
                    "phases": {
                        "planning": 2,
                        "computing": 150 + int(60 * math.sin(n / 7)),
                        "recording": 12,
                        "committing": 9,
                    },
                    "snapshot": None,
                }
                for n in range(120)
            ]
        }

    def back_pressure(self) -> Json:
        if not any(operator.pressed for operator in self.operators):
            return {"vertices": [], "cause": None}
        return {
            "vertices": [],
            "cause": {
                "id": "count",
                "name": "count views by app and minute",
                "busy": 0.98,
                "text": "count views by app and minute is busy 98 % of the time and slows down parse",
            },
        }

    def skew(self) -> Json:
        return {
            "vertices": [
                {
                    "id": "count",
                    "name": "count",
                    "coefficient": 1.31,
                    "records": [912_000, 104_000, 98_000, 121_000],
                    "state-bytes": [71_000, 69_000, 74_000, 70_100],
                    "hot-keys": [
                        {"key": "'app-17'", "share": 0.61, "count": 753_000, "error": 10},
                        {"key": "'app-3'", "share": 0.07, "count": 86_000, "error": 10},
                        {"key": "'app-101'", "share": 0.02, "count": 24_900, "error": 10},
                    ],
                    "skewed": True,
                    "advice": [
                        "'app-17' alone has 61 % of the records: count in two phases, first by (app, random number), then by app.",
                        "Pre-aggregate before the exchange with a count window.",
                    ],
                }
            ]
        }

    def _attempts(self) -> list[Json]:
        step = 120_000
        attempts: list[Json] = [
            {
                "number": n,
                "state": "FAILED",
                "started_at": self.started + n * step,
                "ended_at": self.started + n * step + 104_000,
                "from_epoch": None if n == 0 else 60 * n,
                "from_savepoint": None,
                "driver": f"process {4711 + n} on worker-a",
                "failure": _FAILURE,
            }
            for n in range(self.restarts)
        ]
        last = {
            "number": self.restarts,
            "state": self.state,
            "started_at": self.started + self.restarts * step,
            "ended_at": None,
            "from_epoch": 60 * self.restarts or None,
            "from_savepoint": None,
            "driver": "process 4801 on worker-a",
            "failure": None,
        }
        return attempts if self.state == "RESTARTING" else [*attempts, last]

    def _rate(self, id_: str) -> float:
        return next(operator.rate for operator in self.operators if operator.id == id_) * _wave()

    def _vertex(self, operator: Operator) -> Json:
        runs = self.state == "RUNNING"
        return {
            "id": operator.id,
            "name": operator.name,
            "parallelism": operator.parallelism,
            "maxParallelism": 128,
            "status": operator.status if runs else self.state,
            "start-time": self.started,
            "end-time": -1,
            "duration": 1000,
            "metrics": {
                "read-records": 9_412_000 if operator.inputs else 0,
                "write-records": 9_400_100,
                "read-bytes": 88_000_000,
                "write-bytes": 91_000_000,
            },
            "penstock": {
                "kind": "map",
                "level": 0,
                "chain": operator.chain,
                "origin": "page_views.py:41",
                "busy": operator.busy if runs else None,
                "backpressured": operator.pressed if runs else None,
                "idle": max(0.0, 1 - operator.busy - operator.pressed) if runs else None,
                "backpressure": "ok",
                "rate-in": operator.rate * _wave() if runs and operator.inputs else None,
                "rate-out": operator.rate * _wave() if runs else None,
                "watermark": now() - 2_300,
            },
        }

    def _vertex_answers(self, operator: Operator) -> Json:
        base = f"/jobs/{self.id}/vertices/{operator.id}"
        subtasks = range(operator.parallelism)
        return {
            base: lambda: {
                "id": operator.id,
                "name": operator.name,
                "parallelism": operator.parallelism,
                "subtasks": [
                    {
                        "subtask": n,
                        "status": "RUNNING",
                        "attempt": self.restarts,
                        "endpoint": f"worker-{n % 2}",
                        "start-time": self.started,
                        "duration": 1000,
                        "metrics": {"read-records": 912_000 >> n, "write-records": 900_000 >> n},
                        "penstock": {
                            "busy": operator.busy / (n + 1),
                            "idle": 0.1,
                            "backpressured": operator.pressed / (n + 1),
                        },
                    }
                    for n in subtasks
                ],
            },
            f"{base}/watermarks": lambda: [
                {"id": f"{n}.currentInputWatermark", "value": str(now() - 2_300 - 700 * n)} for n in subtasks
            ],
            f"{base}/metrics": [
                {"id": f"{n}.{name}", "value": str(7 * n + 3)}
                for n in subtasks
                for name in (
                    "numRecordsIn",
                    "numRecordsOut",
                    "busyTimeMsPerSecond",
                    "currentInputWatermark",
                    "state.views.entries",
                )
            ],
            f"{base}/flamegraph": lambda: {"endTimestamp": now(), "data": _FLAME},
        }


def cluster(*jobs: JobAnswers) -> Json:
    states = [job.state for job in jobs]
    answers: Json = {
        "/config": {"refresh-interval": 3000, "flink-version": "2.3", "features": {"web-submit": True}},
        "/overview": {
            "taskmanagers": 2,
            "slots-total": 8,
            "slots-available": 2 if jobs else 8,
            "jobs-running": states.count("RUNNING") + states.count("RESTARTING"),
            "jobs-finished": states.count("FINISHED"),
            "jobs-cancelled": states.count("CANCELED"),
            "jobs-failed": states.count("FAILED"),
        },
        "/jobs/overview": lambda: {"jobs": [job.summary() for job in jobs]},
        "/taskmanagers": {"taskmanagers": []},
        "/jobmanager/config": [
            {"key": "rest.port", "value": "8081"},
            {"key": "execution.checkpointing.savepoint-dir", "value": "file:///savepoints"},
        ],
        "/jobmanager/environment": {"python": "3.11.2", "platform": "Linux", "penstock": "0.9"},
        "/jobmanager/log": _LOG,
        "POST /penstock/v1/jobs": {"jobid": JOB},
        "/penstock/v1/savepoints": {
            "operators": [{"uid": "count", "name": None, "states": [{"name": "views", "kind": "value", "keyed": True}]}]
        },
    }
    for job in jobs:
        answers |= job.all()
    return answers


def _wave() -> float:
    return 1 + 0.15 * math.sin(time.time() / 9)


def _checkpoint(number: int) -> Json:
    status = {44: "IN_PROGRESS", 38: "FAILED"}.get(number, "COMPLETED")
    savepoint = number % 9 == 0
    return {
        "id": number,
        "status": status,
        "is_savepoint": savepoint,
        "checkpoint_type": "SAVEPOINT" if savepoint else "CHECKPOINT",
        "trigger_timestamp": now() - (44 - number) * 10_000,
        "latest_ack_timestamp": None if number == 44 else now() - (44 - number) * 10_000 + 120,
        "end_to_end_duration": None if number == 44 else 110 + number * 3 % 50,
        "checkpointed_size": 81_000,
        "state_size": None if number == 44 else 3_100_000 + 4_000 * number,
        "num_subtasks": 26,
        "num_acknowledged_subtasks": 11 if number == 44 else 26,
        "external_path": None if number == 44 else f"/checkpoints/3f6c1a9b/chk-{number}",
        "discarded": number < 41,
        "penstock": {"epoch": number * 9, "epochs-since": 9, "records-since": 210_000, "changed-bytes": 81_000},
    }


def _task(operator: Operator) -> Json:
    return {
        "status": "COMPLETED",
        "state_size": 770_000,
        "end_to_end_duration": 104,
        "num_subtasks": operator.parallelism,
        "num_acknowledged_subtasks": operator.parallelism,
    }


_TRACEBACK = """Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/penstock/runtime/operators/process.py", line 118, in process_batch
    for result in self._function.process_element(value, context):
  File "/programs/page_views.py", line 41, in process_element
    count = int(parts[3])
ValueError: invalid literal for int() with base 10: 'seven'
"""
_FAILURE = {
    "exception": "ValueError",
    "message": "invalid literal for int() with base 10: 'seven'",
    "traceback": _TRACEBACK,
}
_LOG = "".join(
    f"2026-11-16 10:{n // 60:02d}:{n % 60:02d} {'WARNING' if n % 23 == 0 else 'INFO'}  penstock.job  epoch {n} complete, 23,104 records in 184 ms\n"
    for n in range(180)
)
_FLAME: Json = {
    "name": "root",
    "value": 310,
    "children": [
        {
            "name": "run (worker.py:88)",
            "value": 310,
            "children": [
                {
                    "name": "process_batch (process.py:118)",
                    "value": 280,
                    "children": [
                        {
                            "name": "process_element (page_views.py:41)",
                            "value": 230,
                            "children": [
                                {
                                    "name": "loads (json/__init__.py:346)",
                                    "value": 140,
                                    "children": [{"name": "decode (decoder.py:337)", "value": 128, "children": []}],
                                },
                                {"name": "value (keyed.py:61)", "value": 52, "children": []},
                            ],
                        },
                        {"name": "advance (timers.py:90)", "value": 40, "children": []},
                    ],
                },
                {"name": "flush (exchange.py:140)", "value": 30, "children": []},
            ],
        }
    ],
}
