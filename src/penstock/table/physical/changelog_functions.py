"""TO_CHANGELOG and FROM_CHANGELOG, which keep nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.common.errors import NotSupportedError
from penstock.runtime.table.changelog_columns import FromChangelogParams, ToChangelogParams
from penstock.table.logical import nodes as plan
from penstock.table.physical.table_stream import TableStream

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def to_changelog(relation: plan.ToChangelog, planner: Planner) -> TableStream:
    _needs_stream("TO_CHANGELOG", planner)
    stream = planner.plan(relation.source)
    params = ToChangelogParams(stream.row_type, relation.codes)
    return planner.operator(relation, "table_to_changelog", [stream], {"changelog": params}, name="ToChangelog")


def from_changelog(relation: plan.FromChangelog, planner: Planner) -> TableStream:
    if not relation.in_batch:
        _needs_stream("FROM_CHANGELOG", planner)
    stream = planner.plan(relation.source)
    params = FromChangelogParams(stream.row_type, relation.column, relation.codes)
    return planner.operator(relation, "table_from_changelog", [stream], {"changelog": params}, name="FromChangelog")


def _needs_stream(name: str, planner: Planner) -> None:
    if planner.batch:
        raise NotSupportedError(f"{name} is for streaming programs: in a batch only final rows count.")
