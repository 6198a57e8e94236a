"""Every contestant has its turn, in both orders, and the run ends in time."""

from __future__ import annotations

import pytest
from benchmarks import run, settings
from benchmarks.plan import Budget, Step, make_plan
from benchmarks.rows import Measurement


def test_the_second_round_takes_what_targets_compare_in_the_opposite_order() -> None:
    plan = make_plan(["udf_map", "three_hops"], None, 2)
    again = [(step.cases[0], step.contestant) for step in plan if step.round == 2]
    assert again == [
        ("udf_map", "pyflink_thread"),
        ("udf_map", "penstock"),
        ("three_hops", "pyflink_thread"),
        ("three_hops", "penstock"),
    ]


def test_what_a_target_compares_is_repeated() -> None:
    for case, pair in {"keyed_count": "pyflink_process", "udf_map": "pyflink_thread", "slide": "flink_sql"}.items():
        assert {"penstock", pair} <= set(settings.CASES[case].repeated)


def test_optional_ones_come_last() -> None:
    plan = make_plan(list(settings.CASES), None, 2)
    flags = [step.optional for step in plan]
    assert flags == sorted(flags) and any(flags)


def test_every_case_and_contestant_is_in_the_first_round() -> None:
    plan = make_plan(list(settings.CASES), None, 1)
    planned = {(case, step.contestant) for step in plan for case in step.cases}
    wanted = {(name, who) for name, case in settings.CASES.items() for who in case.contestants + case.optional}
    assert planned == wanted


def test_big_state_and_recovery_share_a_run() -> None:
    plan = make_plan(["big_state", "recovery"], ["penstock"], 1)
    assert plan == [Step(("big_state", "recovery"), "penstock", 1)]
    assert make_plan(["recovery"], ["penstock"], 1) == [Step(("recovery",), "penstock", 1)]


def test_chosen_contestants_are_never_optional() -> None:
    assert make_plan(["latency"], ["spark"], 1) == [Step(("latency",), "spark", 1)]


def test_the_budget_learns_what_a_step_takes() -> None:
    budget, step = Budget(100), Step(("tumble",), "loop", 1)
    assert budget.allows(step, 90)
    assert not budget.allows(step, 98)
    budget.note(step, 30)
    again = Step(("tumble",), "loop", 2)
    assert budget.allows(again, 70)
    assert not budget.allows(again, 71)


def test_a_step_that_breaks_costs_its_own_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(step: Step, scale: float) -> list[Measurement]:
        raise OSError("no space left")

    monkeypatch.setattr(run, "run_one", broken)
    (row,) = run.run_safely(Step(("tumble",), "loop", 1), 1.0)
    assert (row.status, row.value, row.note) == ("failed", None, "OSError: no space left")
