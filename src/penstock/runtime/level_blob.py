"""A level's blueprint on its way to the workers.

A module of its own, and light: Spark unpickles it also in processes that only plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cloudpickle

from penstock.runtime.blueprint import JobBlueprint, JobSettings
from penstock.runtime.savepoint import Savepoint


@dataclass(frozen=True)
class LevelBlob:
    """A level's blueprint as bytes: unpickled once per container, so that subtasks share no user objects."""

    settings: JobSettings
    level: int
    run_id: str
    pickled: bytes = field(repr=False)
    savepoint: Savepoint | None = None

    @staticmethod
    def of(job: JobBlueprint, level: int, run_id: str, savepoint: Savepoint | None = None) -> LevelBlob:
        return LevelBlob(job.settings, level, run_id, cloudpickle.dumps(_only(job, level)), savepoint)

    def blueprint(self) -> JobBlueprint:
        blueprint: JobBlueprint = cloudpickle.loads(self.pickled)
        return blueprint


def _only(job: JobBlueprint, level: int) -> JobBlueprint:
    operators = tuple(job.operators_of(level))
    ids = {operator.id for operator in operators}
    edges = tuple(edge for edge in job.edges if edge.source in ids or edge.target in ids)
    return JobBlueprint(job.settings, operators, edges, job.levels, job.parallelism)
