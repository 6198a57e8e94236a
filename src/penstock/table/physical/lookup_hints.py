"""How a lookup join asks: what its hint and the options of the session say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import parse_boolean, parse_duration
from penstock.common.options import value_of
from penstock.functions.async_io import AsyncRetryStrategy
from penstock.runtime.table.async_lookup import nothing_found
from penstock.runtime.table.lookup_join import Retries
from penstock.table.sql.errors import suggestion
from penstock.table.syntax.queries import Hint

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


@dataclass(frozen=True)
class LookupHint:
    """What LOOKUP(..) and the options of the session say about a lookup join."""

    asynchronous: bool
    unordered: bool
    capacity: int
    timeout_ms: int
    retries: Retries | None
    shuffle: bool

    @staticmethod
    def of(hint: Hint | None, planner: Planner) -> LookupHint:
        given = dict(hint.pairs) if hint is not None else {}
        known = (
            "table", "async", "output-mode", "capacity", "timeout", "retry-predicate", "retry-strategy",
            "fixed-delay", "max-attempts", "shuffle",
        )  # fmt: skip
        for key in given:
            if key not in known:
                raise ProgramError(f"The hint LOOKUP has no option '{key}'.{suggestion(key, known)}")
        mode = given.get("output-mode") or str(value_of(planner.options, "table.exec.async-lookup.output-mode"))
        if mode.upper() not in ("ORDERED", "ALLOW_UNORDERED"):
            raise ProgramError(f"'output-mode' of LOOKUP is ordered or allow_unordered, not '{mode}'.")
        try:
            return LookupHint(
                parse_boolean(given.get("async", "false")),
                mode.upper() == "ALLOW_UNORDERED",
                int(given.get("capacity") or value_of(planner.options, "table.exec.async-lookup.buffer-capacity")),
                parse_duration(given["timeout"])
                if "timeout" in given
                else int(value_of(planner.options, "table.exec.async-lookup.timeout")),
                _retries(given),
                parse_boolean(given.get("shuffle", "false")),
            )
        except ValueError as error:
            raise ProgramError(f"The hint LOOKUP: {error}") from None

    def strategy(self) -> AsyncRetryStrategy[Any]:
        if self.retries is None:
            return AsyncRetryStrategy.no_restart()
        return AsyncRetryStrategy.fixed_delay(self.retries.attempts, self.retries.delay_ms, nothing_found, None)


def _retries(given: dict[str, str]) -> Retries | None:
    parts = [given.get(key) for key in ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")]
    if not any(parts):
        return None
    predicate, strategy, delay, attempts = parts
    if predicate is None or strategy is None or delay is None or attempts is None:
        raise ProgramError(
            "LOOKUP retries need all of 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay',"
            " 'fixed-delay' and 'max-attempts'."
        )
    if predicate != "lookup_miss" or strategy != "fixed_delay":
        raise NotSupportedError("LOOKUP retries on 'lookup_miss' with 'fixed_delay' only.")
    return Retries(int(attempts), parse_duration(delay))
