"""The digest says whether a contestant's result is right, whatever the order and the files it comes in."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from benchmarks import inputs, settings
from benchmarks.digests import digest_of_lines, last_of_each, result_digest


def test_order_does_not_matter() -> None:
    assert digest_of_lines(["a,1", "b,2", "a,3"]) == digest_of_lines(["a,3", "a,1", "b,2"])


@pytest.mark.parametrize("other", [["a,1"], ["a,1", "b,2", "b,2"], ["a,1", "b,3"], ["a,1", "a,1"], []])
def test_a_missing_doubled_or_changed_line_shows(other: list[str]) -> None:
    assert digest_of_lines(["a,1", "b,2"]) != digest_of_lines(other)


def test_digests_of_parts_add_up() -> None:
    lines = [str(number) for number in range(1000)]
    assert digest_of_lines(lines[:300]) + digest_of_lines(lines[300:]) == digest_of_lines(lines)


def test_running_totals_count_by_their_last_line() -> None:
    assert sorted(last_of_each(["x,2,30", "x,1,10", "y,1,5", "x,10,90"])) == ["x,10,90", "y,1,5"]
    assert result_digest("three_hops", ["x,1,10", "x,2,30"]) == digest_of_lines(["x,2,30"])


def make(case: str, records: int, keys: int) -> tuple[list[str], list[str]]:
    lines, results, _ = inputs._MAKERS[case](np.random.default_rng(1), records, keys)
    return lines, results


def test_counts_are_those_of_a_plain_loop() -> None:
    lines, results = make("keyed_count", 5000, 100)
    counts: Counter[str] = Counter()
    expected = []
    for line in lines:
        key = line.split(",")[0]
        counts[key] += 1
        expected.append(f"{key},{counts[key]}")
    assert sorted(results) == sorted(expected)


@pytest.mark.parametrize(("case", "length"), [("tumble", 1), ("slide", 4)])
def test_windows_are_those_of_a_plain_loop(case: str, length: int) -> None:
    lines, results = make(case, 5000, 100)
    windows: dict[tuple[int, int], list[int]] = {}
    for key, time, amount in (map(int, line.split(",")) for line in lines):
        for back in range(length):
            windows.setdefault((key, time // 1000 - back), []).append(amount)
    assert sorted(results) == sorted(f"{key},{len(all_)},{sum(all_)}" for (key, _), all_ in windows.items())


def test_sessions_are_those_of_a_plain_loop() -> None:
    lines, results = make("session", 5000, 50)
    expected = []
    events: dict[int, list[tuple[int, int]]] = {}
    for key, time, amount in (map(int, line.split(",")) for line in lines):
        events.setdefault(key, []).append((time, amount))
    for key, own in events.items():
        own.sort()
        sessions: list[list[int]] = []
        last = -(10**18)
        for time, amount in own:
            if time - last > settings.SESSION_GAP_MS:
                sessions.append([])
            sessions[-1].append(amount)
            last = time
        expected += [f"{key},{len(session)},{sum(session)}" for session in sessions]
    assert sorted(results) == sorted(expected)


def test_patterns_are_those_of_a_plain_loop() -> None:
    lines, results = make("cep", 20_000, 100)
    expected, last = [], {}
    for time, key, amount in sorted((int(t), int(k), int(a)) for k, t, a in (line.split(",") for line in lines)):
        before, small = last.get(key, (0, settings.CEP_SMALL))
        if small < settings.CEP_SMALL and amount > settings.CEP_LARGE and time - before < settings.CEP_WITHIN_MS:
            expected.append(f"{key},{small},{amount}")
        last[key] = time, amount
    assert expected and sorted(results) == sorted(expected)


def test_no_record_comes_later_than_the_watermark_allows() -> None:
    lines, _ = make("tumble", 5000, 1000)
    times = np.array([int(line.split(",")[1]) for line in lines])
    behind = np.maximum.accumulate(times) - times
    assert 0 < behind.max() < settings.DISORDER_MS


def test_json_lines_have_the_promised_size() -> None:
    lines, results = make("udf_map", 10, 0)
    assert {len(line) + 1 for line in lines} == {settings.JSON_LINE_BYTES}
    assert lines != results
