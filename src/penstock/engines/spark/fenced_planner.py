"""Stands before the coordinator: a driver that has lost its job to another process plans and publishes nothing more."""

from __future__ import annotations

from typing import Any

from penstock.control.job_home import JobHome
from penstock.engines.spark.planner_link import Planner


class FencedPlanner:
    """Results become visible while the next epoch is planned, so that is where ownership has to be looked at."""

    def __init__(self, planner: Planner, home: JobHome) -> None:
        self._planner = planner
        self._home = home

    def initial_offset(self) -> dict[str, Any]:
        return self._planner.initial_offset()

    def latest_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        self._home.check_owned()
        return self._planner.latest_offset(start)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Any]:
        self._home.check_owned()
        return self._planner.partitions(start, end)

    def planning_failed(self, error: Exception) -> None:
        self._planner.planning_failed(error)
