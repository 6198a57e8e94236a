"""Tumbling, sliding and session windows over several epochs on real Spark."""

from __future__ import annotations

from collections import Counter

import cloudpickle
import pytest
from tests.conftest import EnvironmentFactory
from tests.unit.runtime import window_programs

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_windows_give_the_same_on_spark_for_every_parallelism(spark_env: EnvironmentFactory, parallelism: int) -> None:
    cloudpickle.register_pickle_by_value(window_programs)
    small_epochs = {"penstock.epoch.initial-records": "150", "penstock.epoch.max-records": "150"}
    with window_programs.program(spark_env(parallelism, small_epochs)).execute_and_collect() as results:
        assert Counter(results) == window_programs.expected()
