"""EXPLAIN: the plan as it was written and as it is carried out, with what was asked for beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.common.options import value_of
from penstock.graph.explain import execution_plan_json
from penstock.graph.stream_graph import build_stream_graph
from penstock.graph.transformation import Node
from penstock.table.explain_detail import ExplainDetail
from penstock.table.logical.changelog import mode_text
from penstock.table.logical.costs import advice, state_text
from penstock.table.logical.explain import explain
from penstock.table.logical.nodes import Relation, Sink
from penstock.table.physical import ends
from penstock.table.physical.final_rows import final_rows
from penstock.table.session.table_session import TableSession

DETAILS = {
    "ESTIMATED_COST": ExplainDetail.ESTIMATED_COST,
    "CHANGELOG_MODE": ExplainDetail.CHANGELOG_MODE,
    "JSON_EXECUTION_PLAN": ExplainDetail.JSON_EXECUTION_PLAN,
    "PLAN_ADVICE": ExplainDetail.PLAN_ADVICE,
}


def explanation(relations: Sequence[Relation], session: TableSession, details: Sequence[int] = ()) -> str:
    """Costs are what nodes keep in state: rows that come are not known beforehand."""
    shown = set(details) - ({ExplainDetail.CHANGELOG_MODE} if session.batch else set())  # batches have no changelogs
    notes = [_NOTES[detail] for detail in sorted(shown) if detail in _NOTES]
    planned = [session.prepared(relation, explained=True) for relation in relations]
    parts = [
        "== Abstract Syntax Tree ==\n" + "\n\n".join(explain(relation) for relation in relations),
        "== Optimized Execution Plan ==\n"
        + "\n\n".join(explain(relation, lambda node: _noted(node, notes)) for relation in planned),
    ]
    if ExplainDetail.PLAN_ADVICE in details:
        parts.append("== Advice ==\n" + _advice(planned, session))
    if ExplainDetail.JSON_EXECUTION_PLAN in details:
        parts.append("== Physical Execution Plan ==\n" + _json(planned, session))
    return "\n\n".join(parts) + "\n"


_NOTES: dict[int, Callable[[Relation], str]] = {
    ExplainDetail.ESTIMATED_COST: state_text,
    ExplainDetail.CHANGELOG_MODE: mode_text,
}


def _noted(node: Relation, notes: Sequence[Callable[[Relation], str]]) -> str:
    return ", ".join(text for text in (note(node) for note in notes) if text)


def _advice(relations: Sequence[Relation], session: TableSession) -> str:
    options = session.env._configuration
    ttl = session.batch or bool(value_of(options, "table.exec.state.ttl"))
    bundles = session.batch or bool(value_of(options, "table.exec.mini-batch.enabled"))
    found = dict.fromkeys(line for relation in relations for line in advice(relation, ttl, bundles))
    return "\n".join(f"advice[{number}]: {line}" for number, line in enumerate(found, 1)) or "no available advice..."


def _json(relations: Sequence[Relation], session: TableSession) -> str:
    operators = session.env._operators
    before = len(operators)
    planner = session.planner()
    try:
        nodes = tuple(_end(relation, session, planner) for relation in relations)
        request = session.env._request(None, nodes)
        return execution_plan_json(build_stream_graph(request.sinks, request.parallelism, request.max_parallelism))
    finally:
        del operators[before:]


def _end(relation: Relation, session: TableSession, planner: object) -> Node:
    if isinstance(relation, Sink):
        return session._sink(relation, planner)  # type: ignore[arg-type]
    return ends.collected(final_rows(relation, planner), relation, planner)  # type: ignore[arg-type]
