"""What a job tells about itself: counted where it happens, and the same however epochs are cut."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any

import pytest

from penstock.common import Types
from penstock.control.job_control import JobDescription, OperatorDescription
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.rest import pressure
from penstock.rest.flame_graph import flame_graph
from penstock.rest.skew import skew
from penstock.runtime.batch import Batch
from penstock.runtime.hot_keys import HotKeys

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def run(values: list[tuple[str, int]], epoch_records: int = 1000, **settings: str) -> JobDescription:
    executor = LocalExecutor(epoch_records=epoch_records)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    for key, value in settings.items():
        env._configuration.set_string(key.replace("_", "."), value)
    pairs = env.from_collection(values, PAIR).filter(lambda pair: pair[1] >= 0).uid("positive")
    sums = pairs.key_by(lambda pair: pair[0]).reduce(lambda one, other: (one[0], one[1] + other[1])).uid("sums")
    sums.map(slow_for_large_sums, PAIR).uid("slow").print()
    env.execute("job")
    return executor._job.describe()  # type: ignore[attr-defined]


def slow_for_large_sums(pair: tuple[str, int]) -> tuple[str, int]:
    if pair[1] > 1000:
        wait()
    return pair


def wait() -> None:
    time.sleep(0.002)


def operator(job: JobDescription, uid: str) -> OperatorDescription:
    return next(each for each in job.operators if each.uid == uid)


@pytest.mark.parametrize("epoch_records", [7, 1000])
def test_records_bytes_and_state_are_counted(epoch_records: int, capsys: pytest.CaptureFixture[str]) -> None:
    values = [(random.choice("abcdef"), random.randrange(-2, 5)) for _ in range(300)]
    kept = [pair for pair in values if pair[1] >= 0]
    job = run(values, epoch_records)
    positive, sums = operator(job, "positive"), operator(job, "sums")
    assert (positive.records_in, positive.total("numRecordsOut")) == (300, len(kept))
    assert sums.records_in == sums.total("numRecordsOut") == len(kept)
    assert positive.total("numBytesOut") == sums.total("numBytesIn") > 0
    entries = [name for name in sums.subtasks[0].metrics if name.startswith("state.") and name.endswith(".entries")]
    assert entries and sum(sums.total(name) for name in entries) == len({key for key, _ in kept})
    assert all(subtask.worker for subtask in sums.subtasks)
    assert sum(epoch.records for epoch in job.epochs) == 300 and job.epochs[-1].computing > 0


def test_the_busy_time_is_that_of_the_operator_itself(capsys: pytest.CaptureFixture[str]) -> None:
    job = run([("a", 2000)] * 30)
    slow, sums = operator(job, "slow"), operator(job, "sums")
    assert slow.total("accumulateBusyTimeMs") >= 50 > sums.total("accumulateBusyTimeMs")
    text = (pressure.overview(job)["cause"] or {"text": ""})["text"]
    assert not text or text.startswith("Map")


def test_latency_markers_reach_every_operator(capsys: pytest.CaptureFixture[str]) -> None:
    job = run([("a", 1)] * 50, epoch_records=5, metrics_latency_interval="1 ms")
    source = job.operators[0].uid
    for uid in ("positive", "sums", "slow"):
        assert operator(job, uid).subtasks[0].metrics[f"latency.source_id.{source}.p99"] >= 0
    assert not any("latency" in name for name in operator(run([("a", 1)]), "sums").subtasks[0].metrics)


def test_sampled_stacks_name_the_users_code(capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"rest.flamegraph.enabled": "true", "rest.flamegraph.delay-between-samples": "2 ms"}
    job = run([("a", 2000)] * 200, **settings)
    graph = flame_graph(operator(job, "slow"), None, 7)
    assert graph["endTimestamp"] == 7 and graph["data"]["value"] > 0
    paths = [[name.partition(" ")[0] for name in path] for path in _paths(graph["data"])]
    nested = ["slow_for_large_sums", "wait", f"test_vitals.py:{wait.__code__.co_firstlineno + 1}"]
    assert any(path[-3:] == nested and path[1].endswith("Operator.process") for path in paths), paths
    assert flame_graph(operator(job, "positive"), 1, 7) == {} or graph


def _paths(node: dict[str, Any]) -> list[list[str]]:
    """From the root to each leaf."""
    below = [path for child in node["children"] for path in _paths(child)]
    return [[node["name"], *path] for path in below or [[]]]


def test_a_hot_key_is_found_and_advice_given(capsys: pytest.CaptureFixture[str]) -> None:
    values = [("hot" if number % 3 else f"k{number % 50}", 1) for number in range(3000)]
    [found] = skew(run(values))["vertices"]
    assert found["skewed"] and found["hot-keys"][0]["key"] == "'hot'"
    assert found["hot-keys"][0]["share"] == pytest.approx(2 / 3, abs=0.1)
    assert "'hot'" in found["advice"][0] and any("two phases" in line for line in found["advice"])


def test_even_keys_need_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    [found] = skew(run([(f"k{number % 200}", 1) for number in range(3000)]))["vertices"]
    assert not found["skewed"] and found["advice"] == []


def test_the_summary_of_keys_keeps_every_frequent_one() -> None:
    """Against counting everything: the guarantee of the sketch, whatever the batches are."""
    chance = random.Random(3)
    sketch, truth = HotKeys(), Counter[int]()
    for _ in range(200):
        keys = [chance.choice([1, 1, 2, chance.randrange(100_000)]) for _ in range(chance.randrange(1, 400))]
        sketch.look_at(Batch(list(keys), keys=keys))
        truth.update(keys)
    hottest = dict(sketch.hottest())
    assert {"1", "2"} <= hottest.keys() and hottest["1"] > hottest["2"]
    assert hottest["1"] <= sketch.sampled
    assert len(sketch._counts) <= 64
    assert hottest["1"] / sketch.sampled == pytest.approx(truth[1] / truth.total(), abs=0.06)
