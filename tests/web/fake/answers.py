"""What a manager would say of an empty cluster, of a few jobs, and of jobs of any size and state.

Answers that never change are in recorded.json; here are those with times, rates and states in them.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
JOB = "3f6c1a9be04d4d3a8c75d7b3a1f0c2e4"
_ENDED = ("FINISHED", "FAILED", "CANCELED")
_RECORDED: Json = json.loads(Path(__file__).with_name("recorded.json").read_text())
_PROGRAM: Json = {
    "id": "5b0c_page_views.zip",
    "name": "page_views.zip",
    "uploaded": 1_795_000_000_000,
    "entry": [{"name": "page_views.zip", "description": None}],
}
_LOG = "".join(f"2026-11-16 10:{n // 60:02d}:{n % 60:02d} INFO  epoch {n} is complete\n" for n in range(180))


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


def many_operators(lines: int = 40) -> tuple[Operator, ...]:
    """Pipelines of five operators each, some of which feed their neighbours."""
    graph: list[Operator] = []
    for line in range(lines):
        for step, verb in enumerate(("read", "parse", "enrich", "aggregate", "write")):
            index = 5 * line + step
            inputs = [] if step == 0 else [(f"o{index - 1}", "FORWARD" if step == 1 else "HASH")]
            if step == 2 and line % 3 != 0:
                inputs.append((f"o{index - 6}", "REBALANCE"))
            chain = f"pipeline {line}, head" if step < 2 else f"pipeline {line}, {verb}"
            load = index * 37 % 100 / 100
            graph.append(Operator(f"o{index}", f"{verb} events of region {line}", chain, inputs, load))
    return tuple(graph)


@dataclass(frozen=True)
class JobAnswers:
    name: str = "Page views per app"
    state: str = "RUNNING"
    id: str = JOB
    operators: Sequence[Operator] = PAGE_VIEWS
    restarts: int = 0
    kept: int = 100  # attempts
    started: int = field(default_factory=lambda: _now() - 754_000)

    def all(self) -> Json:
        """By path."""
        base, own = f"/jobs/{self.id}", f"/penstock/v1/jobs/{self.id}"
        answers: Json = {
            base: self.details,
            f"{base}/plan": self.plan,
            f"{base}/exceptions": self.exceptions,
            f"{base}/status": {"status": self.state},
            f"{base}/checkpoints": _checkpoints,
            f"{base}/checkpoints/details/41": lambda: {**_checkpoint(41), "tasks": {"count": _saved(41)}},
            f"{own}/epochs": lambda: {"epochs": [_epoch(age) for age in range(120)]},
            f"{own}/backpressure": self.back_pressure,
            f"{own}/log": {"text": _LOG, "offset": len(_LOG)},
            f"POST {base}/savepoints": {"request-id": "s1"},
            f"PATCH {base}": {},
        }
        answers |= {base + path: answer for path, answer in _RECORDED["job"].items()}
        answers |= {own + path: answer for path, answer in _RECORDED["own"].items()}
        for operator in self.operators:
            answers |= self._of_vertex(operator, f"{base}/vertices/{operator.id}")
        return answers

    def summary(self) -> Json:
        end = self.started + 600_000 if self.state in _ENDED else -1
        runs = self.state == "RUNNING"
        return {
            "jid": self.id,
            "name": self.name,
            "state": self.state,
            "start-time": self.started,
            "end-time": end,
            "duration": (end if end > 0 else _now()) - self.started,
            "penstock": {
                "epoch": 412,
                "records-in": 9_412_000,
                "rate": 12_400.0 * _wave() if runs else 0.0,
                "watermark-lag": 2_300 if runs else None,
                "restarts": self.restarts,
                "backpressure": "high" if runs else "ok",
                "waiting": "waits for a free slot: 4 are needed, 2 are free" if self.state == "CREATED" else None,
                "script": "/programs/page_views.py",
            },
        }

    def details(self) -> Json:
        summary = self.summary()
        facts = {name: fact for name, fact in summary["penstock"].items() if name != "backpressure"}
        failure = _RECORDED["failure"] if self.state == "FAILED" else None
        more = {"parallelism": 4, "records-out": 410_000, "attempts": self._attempts(), "failure": failure}
        vertices = [self._vertex(operator) for operator in self.operators]
        return {
            **summary,
            "now": _now(),
            "maxParallelism": 128,
            "vertices": vertices,
            "penstock": {**facts, **more},
        }

    def plan(self) -> Json:
        rates = {operator.id: operator.rate * _wave() for operator in self.operators}

        def node(operator: Operator) -> Json:
            inputs = [
                {"num": number, "id": source, "ship_strategy": strategy, "penstock": {"rate": rates[source]}}
                for number, (source, strategy) in enumerate(operator.inputs)
            ]
            facts = {"chain": operator.chain, "level": 0, "kind": "map"}
            return {"id": operator.id, "description": operator.name, "inputs": inputs, "penstock": facts}

        return {"plan": {"jid": self.id, "nodes": [node(operator) for operator in self.operators]}}

    def exceptions(self) -> Json:
        failure, place = _RECORDED["failure"], {"operator": "parse", "file": "page_views.py", "line": 41}
        entries = [
            {
                "exceptionName": failure["exception"],
                "stacktrace": failure["traceback"],
                "timestamp": _now() - 61_000 * (age + 1),
                "taskName": "parse (3/4)",
                "penstock": {"attempt": self.restarts - age - 1, "state": "FAILED", **place},
            }
            for age in range(self.restarts)
        ]
        return {"exceptionHistory": {"entries": entries, "truncated": False}}

    def back_pressure(self) -> Json:
        if self.operators is not PAGE_VIEWS:
            return {"vertices": [], "cause": None}
        text = "count views by app and minute is busy 98 % of the time and slows down parse"
        return {"vertices": [], "cause": {"id": "count", "name": "count views", "busy": 0.98, "text": text}}

    def _attempts(self) -> list[Json]:
        def attempt(number: int, state: str) -> Json:
            start = self.started + number * 120_000
            failed = state == "FAILED"
            return {
                "number": number,
                "state": state,
                "started_at": start,
                "ended_at": start + 104_000 if failed else None,
                "from_epoch": 60 * number or None,
                "from_savepoint": None,
                "driver": f"process {4711 + number} on worker-a",
                "failure": _RECORDED["failure"] if failed else None,
            }

        failed = [attempt(number, "FAILED") for number in range(self.restarts)]
        attempts = failed if self.state == "RESTARTING" else [*failed, attempt(self.restarts, self.state)]
        return attempts[-self.kept :]

    def _vertex(self, operator: Operator) -> Json:
        facts: Json = {"kind": "map", "chain": operator.chain, "origin": "page_views.py:41"}
        if self.state == "RUNNING":
            rate = operator.rate * _wave()
            facts |= {"busy": operator.busy, "backpressured": operator.pressed, "watermark": _now() - 2_300}
            facts |= {"rate-in": rate if operator.inputs else 0, "rate-out": rate}
        return {
            "id": operator.id,
            "name": operator.name,
            "parallelism": operator.parallelism,
            "status": self.state,
            "metrics": {"read-records": 9_412_000, "write-records": 9_400_100},
            "penstock": facts,
        }

    def _of_vertex(self, operator: Operator, base: str) -> Json:
        subtasks = range(operator.parallelism)

        def subtask(number: int) -> Json:
            return {
                "subtask": number,
                "status": self.state,
                "attempt": self.restarts,
                "endpoint": f"worker-{number % 2}",
                "start-time": self.started,
                "duration": 1000,
                "metrics": {"read-records": 912_000 >> number, "write-records": 900_000 >> number},
                "penstock": {"busy": operator.busy / (number + 1), "backpressured": operator.pressed / (number + 1)},
            }

        def watermarks() -> list[Json]:
            return [{"id": f"{n}.currentInputWatermark", "value": str(_now() - 2_300 - 700 * n)} for n in subtasks]

        details = {"id": operator.id, "name": operator.name, "subtasks": [subtask(number) for number in subtasks]}
        recorded = {base + path: answer for path, answer in _RECORDED["vertex"].items()}
        return {base: details, f"{base}/watermarks": watermarks, **recorded}


def cluster(*jobs: JobAnswers) -> Json:
    """Everything that a manager with these jobs says, by path."""
    states = [job.state for job in jobs]
    counted = {"finished": "FINISHED", "cancelled": "CANCELED", "failed": "FAILED"}
    overview: Json = {f"jobs-{name}": states.count(state) for name, state in counted.items()}
    overview["jobs-running"] = len([state for state in states if state not in (*_ENDED, "CREATED")])
    answers: Json = {
        **_RECORDED["cluster"],
        "/overview": {**overview, "taskmanagers": 2, "slots-total": 8, "slots-available": 2 if jobs else 8},
        "/jobs/overview": lambda: {"jobs": [job.summary() for job in jobs]},
        "/jobmanager/log": _LOG,
        "/jars": {"address": "", "files": [_PROGRAM]},
        f"DELETE /jars/{_PROGRAM['id']}": {},
        "POST /penstock/v1/jobs": {"jobid": JOB},
    }
    for job in jobs:
        answers |= job.all()
    return answers


def _now() -> int:
    return time.time_ns() // 1_000_000


def _wave() -> float:
    return 1 + 0.15 * math.sin(time.time() / 9)


def _epoch(age: int) -> Json:
    computing = 150 + int(60 * math.sin(age / 7))
    return {
        "number": 412 - age,
        "completed-at": _now() - age * 1_900,
        "duration": computing + 23,
        "records": 23_000 + int(4_000 * math.cos(age / 9)),
        "bytes": 81_000,
        "phases": {
            "planning": 2,
            "source": computing * 0.3,
            "operators": computing * 0.4,
            "state": computing * 0.1,
            "exchange": computing * 0.2,
            "recording": 12,
            "committing": 9,
        },
    }


def _checkpoints() -> Json:
    history = [_checkpoint(number) for number in range(44, 20, -1)]
    restored = {"id": 40, "restore_timestamp": _now() - 70_000, "is_savepoint": False, "external_path": "/c/chk-40",
                "penstock": {"epoch": 360, "instead-of": []}}  # fmt: skip
    return {
        "counts": {"restored": 1, "total": 44, "in_progress": 1, "completed": 42, "failed": 1},
        "summary": {"end_to_end_duration": {"min": 71, "max": 412, "avg": 131, "p50": 118, "p99": 400}},
        "latest": {"completed": history[1], "savepoint": None, "failed": history[6], "restored": restored},
        "history": history,
    }


def _checkpoint(number: int) -> Json:
    status = {44: "IN_PROGRESS", 38: "FAILED"}.get(number, "COMPLETED")
    done, triggered = status == "COMPLETED", _now() - (44 - number) * 10_000
    return {
        "className": status.lower(),
        "id": number,
        "status": status,
        "is_savepoint": number % 9 == 0,
        "savepointFormat": "CANONICAL" if number % 9 == 0 else None,
        "checkpoint_type": "SAVEPOINT" if number % 9 == 0 else "CHECKPOINT",
        "checkpointed_size": 3_100_000 + 4_000 * number if done else None,
        "tasks": {},
        "trigger_timestamp": triggered,
        "latest_ack_timestamp": triggered + 120 if done else None,
        "end_to_end_duration": 110 + number * 3 % 50 if done else None,
        "state_size": 3_100_000 + 4_000 * number if done else None,
        "num_subtasks": 26,
        "num_acknowledged_subtasks": 26 if done else 11,
        "external_path": f"/checkpoints/3f6c1a9b/chk-{number}" if done else None,
        "discarded": number < 41,
        "failure_message": None if status != "FAILED" else "it took longer than its timeout of 10 min",
        "penstock": {
            "epoch": number * 9,
            "epochs-since": 9,
            "records-since": 210_000,
            "changed-bytes": 81_000,
        },
    }


def _saved(number: int) -> Json:
    """The share of an operator."""
    names = ("id", "status", "latest_ack_timestamp", "checkpointed_size", "state_size", "end_to_end_duration",
             "num_subtasks", "num_acknowledged_subtasks")  # fmt: skip
    return {name: _checkpoint(number)[name] for name in names}
