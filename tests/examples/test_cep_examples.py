"""The examples with patterns find what their generators have planted, with and without Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.patience import patience

from penstock.datastream import StreamExecutionEnvironment

ROOT = Path(__file__).resolve().parents[2]


Environments = Callable[..., StreamExecutionEnvironment]


@pytest.mark.parametrize(("parallelism", "epoch_records"), [(1, 40), (3, 7)])
def test_fraud(
    example: Callable[[str], ModuleType], local_env: Environments, parallelism: int, epoch_records: int
) -> None:
    module = example("cep_fraud")
    charges = module.Charges(cards=4, rounds=12)
    expected = charges.frauds()
    assert 5 < len(expected) < 40
    env = local_env(parallelism, epoch_records, forget=True)
    assert sorted(module.alerts(env, charges).execute_and_collect()) == expected


@pytest.mark.parametrize(("parallelism", "epoch_records"), [(1, 40), (3, 7)])
def test_brute_force(
    example: Callable[[str], ModuleType], local_env: Environments, parallelism: int, epoch_records: int
) -> None:
    module = example("cep_brute_force")
    attempts = module.Attempts(users=3, rounds=14)
    expected = attempts.alarms()
    assert {version for _, _, version in expected} == {1, 2}
    env = local_env(parallelism, epoch_records, forget=True)
    assert sorted(module.alarms(env, attempts).execute_and_collect()) == expected


@pytest.mark.parametrize(("parallelism", "epoch_records"), [(1, 40), (3, 7)])
def test_temperature(
    example: Callable[[str], ModuleType], local_env: Environments, parallelism: int, epoch_records: int
) -> None:
    module = example("cep_temperature")
    readings = module.Readings(machines=3, rounds=14)
    expected = readings.alarms()
    assert {kind for kind, _, _ in expected} == {"rising", "silent"}
    env = local_env(parallelism, epoch_records, forget=True)
    assert sorted(module.alarms(env, readings).execute_and_collect()) == expected


@pytest.mark.spark
@pytest.mark.parametrize("name", ["cep_fraud", "cep_brute_force", "cep_temperature"])
def test_on_spark(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock.cli.main", "run", "-p", "2", f"examples/{name}.py", "--rounds", "40"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PENSTOCK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=patience(300),
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OK:" in done.stdout
