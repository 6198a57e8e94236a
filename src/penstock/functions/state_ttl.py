"""Time to live of keyed state: when values expire, who still sees them and how they are removed."""

from __future__ import annotations

from abc import ABC
from enum import Enum
from typing import TYPE_CHECKING, cast

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time

if TYPE_CHECKING:
    from typing import TypeVar

    E = TypeVar("E", bound=Enum)

__all__ = ["StateTtlConfig"]

_DEFAULT_PERIODIC_COMPACTION_DAYS = 30


class StateTtlConfig:
    """How long values of a state live.

    Example::

        ttl = StateTtlConfig.new_builder(Time.hours(1)).update_ttl_on_read_and_write().build()
        descriptor.enable_time_to_live(ttl)

    By default the lifetime starts again on every write and an expired value is never returned.
    """

    class UpdateType(Enum):
        """What starts a value's lifetime again."""

        Disabled = 0
        """Nothing expires."""
        OnCreateAndWrite = 1
        """Every write."""
        OnReadAndWrite = 2
        """Every write and every read."""

    class StateVisibility(Enum):
        """Whether an expired value that is still stored can be read."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(Enum):
        """The clock that lifetimes are measured with."""

        ProcessingTime = 0

    def __init__(
        self,
        update_type: StateTtlConfig.UpdateType,
        state_visibility: StateTtlConfig.StateVisibility,
        ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic,
        ttl: Time,
        cleanup_strategies: StateTtlConfig.CleanupStrategies,
    ) -> None:
        self._update_type = _member(update_type, StateTtlConfig.UpdateType)
        self._state_visibility = _member(state_visibility, StateTtlConfig.StateVisibility)
        self._ttl_time_characteristic = _member(ttl_time_characteristic, StateTtlConfig.TtlTimeCharacteristic)
        self._ttl = _positive_time(ttl)
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time) -> StateTtlConfig.Builder:
        """Start a configuration with this lifetime."""
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> StateTtlConfig.UpdateType:
        return self._update_type

    def get_state_visibility(self) -> StateTtlConfig.StateVisibility:
        return self._state_visibility

    def get_ttl(self) -> Time:
        return self._ttl

    def get_ttl_time_characteristic(self) -> StateTtlConfig.TtlTimeCharacteristic:
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Whether values expire at all."""
        return self._update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> StateTtlConfig.CleanupStrategies:
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig(ttl={self._ttl.to_milliseconds()} ms, update_type={self._update_type.name}, "
            f"state_visibility={self._state_visibility.name}, "
            f"ttl_time_characteristic={self._ttl_time_characteristic.name})"
        )

    class Builder:
        """Builds a :class:`StateTtlConfig`; every method returns the builder."""

        def __init__(self, ttl: Time) -> None:
            self._ttl = _positive_time(ttl)
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._state_visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._ttl_time_characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._is_cleanup_in_background = True
            self._strategies: dict[
                StateTtlConfig.CleanupStrategies.Strategies, StateTtlConfig.CleanupStrategies.CleanupStrategy
            ] = {}

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> StateTtlConfig.Builder:
            """Set what starts a lifetime again."""
            self._update_type = _member(update_type, StateTtlConfig.UpdateType)
            return self

        def update_ttl_on_create_and_write(self) -> StateTtlConfig.Builder:
            """Every write starts the lifetime again (the default)."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> StateTtlConfig.Builder:
            """Every write and every read start the lifetime again."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> StateTtlConfig.Builder:
            """Set whether expired values can be read."""
            self._state_visibility = _member(state_visibility, StateTtlConfig.StateVisibility)
            return self

        def return_expired_if_not_cleaned_up(self) -> StateTtlConfig.Builder:
            """An expired value may be read until it has been removed."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

        def never_return_expired(self) -> StateTtlConfig.Builder:
            """An expired value is never read (the default)."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(
            self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic
        ) -> StateTtlConfig.Builder:
            """Set the clock; there is only processing time."""
            self._ttl_time_characteristic = _member(ttl_time_characteristic, StateTtlConfig.TtlTimeCharacteristic)
            return self

        def use_processing_time(self) -> StateTtlConfig.Builder:
            """Measure lifetimes in processing time (the default)."""
            return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

        def cleanup_full_snapshot(self) -> StateTtlConfig.Builder:
            """Leave expired values out of full snapshots."""
            self._strategies[StateTtlConfig.CleanupStrategies.Strategies.FULL_STATE_SCAN_SNAPSHOT] = (
                StateTtlConfig.CleanupStrategies.EMPTY_STRATEGY
            )
            return self

        def cleanup_incrementally(
            self, cleanup_size: int, run_cleanup_for_every_record: bool
        ) -> StateTtlConfig.Builder:
            """Look at ``cleanup_size`` more keys on every state access (or record) and remove expired ones.

            Acts on in-memory backends.
            """
            self._strategies[StateTtlConfig.CleanupStrategies.Strategies.INCREMENTAL_CLEANUP] = (
                StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy(cleanup_size, run_cleanup_for_every_record)
            )
            return self

        def cleanup_in_rocksdb_compact_filter(
            self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
        ) -> StateTtlConfig.Builder:
            """Remove expired values while the on-disk backend compacts. Acts on that backend only."""
            self._strategies[StateTtlConfig.CleanupStrategies.Strategies.ROCKSDB_COMPACTION_FILTER] = (
                StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy(
                    query_time_after_num_entries, periodic_compaction_time
                )
            )
            return self

        def disable_cleanup_in_background(self) -> StateTtlConfig.Builder:
            """Remove expired values only when they are read, or as an explicitly chosen cleanup says."""
            self._is_cleanup_in_background = False
            return self

        def set_ttl(self, ttl: Time) -> StateTtlConfig.Builder:
            """Set the lifetime."""
            self._ttl = _positive_time(ttl)
            return self

        def build(self) -> StateTtlConfig:
            return StateTtlConfig(
                self._update_type,
                self._state_visibility,
                self._ttl_time_characteristic,
                self._ttl,
                StateTtlConfig.CleanupStrategies(dict(self._strategies), self._is_cleanup_in_background),
            )

    class CleanupStrategies:
        """When expired values are removed, besides on being read."""

        class Strategies(Enum):
            """The ways of cleaning up."""

            FULL_STATE_SCAN_SNAPSHOT = 0
            INCREMENTAL_CLEANUP = 1
            ROCKSDB_COMPACTION_FILTER = 2

        class CleanupStrategy(ABC):  # noqa: B024 - marks what may be a strategy's parameters
            """Base of the parameters of a way of cleaning up."""

        class EmptyCleanupStrategy(CleanupStrategy):
            """For a way without parameters."""

        class IncrementalCleanupStrategy(CleanupStrategy):
            """How many keys are checked at a time, and whether on every record."""

            def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
                self._cleanup_size = cleanup_size
                self._run_cleanup_for_every_record = run_cleanup_for_every_record

            def get_cleanup_size(self) -> int:
                return self._cleanup_size

            def run_cleanup_for_every_record(self) -> bool:
                return self._run_cleanup_for_every_record

        class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
            """How often compaction asks for the time, and how old files may grow before it."""

            def __init__(
                self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
            ) -> None:
                self._query_time_after_num_entries = query_time_after_num_entries
                self._periodic_compaction_time: Duration = periodic_compaction_time or Duration.of_days(
                    _DEFAULT_PERIODIC_COMPACTION_DAYS
                )

            def get_query_time_after_num_entries(self) -> int:
                return self._query_time_after_num_entries

            def get_periodic_compaction_time(self) -> Duration:
                return self._periodic_compaction_time

        EMPTY_STRATEGY = EmptyCleanupStrategy()

        def __init__(
            self,
            strategies: dict[
                StateTtlConfig.CleanupStrategies.Strategies, StateTtlConfig.CleanupStrategies.CleanupStrategy
            ],
            is_cleanup_in_background: bool,
        ) -> None:
            self._strategies = strategies
            self._is_cleanup_in_background = is_cleanup_in_background

        def is_cleanup_in_background(self) -> bool:
            return self._is_cleanup_in_background

        def in_full_snapshot(self) -> bool:
            """Whether full snapshots leave expired values out."""
            return StateTtlConfig.CleanupStrategies.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

        def get_incremental_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy | None:
            """The chosen one, else five keys per access, else (background cleanup disabled) None."""
            kinds = StateTtlConfig.CleanupStrategies
            chosen = self._strategies.get(kinds.Strategies.INCREMENTAL_CLEANUP)
            if chosen is None and self._is_cleanup_in_background:
                return kinds.IncrementalCleanupStrategy(5, False)
            return cast("StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy | None", chosen)

        def get_rocksdb_compact_filter_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy | None:
            """The chosen one, else one with defaults, else (background cleanup disabled) None."""
            kinds = StateTtlConfig.CleanupStrategies
            chosen = self._strategies.get(kinds.Strategies.ROCKSDB_COMPACTION_FILTER)
            if chosen is None and self._is_cleanup_in_background:
                return kinds.RocksdbCompactFilterCleanupStrategy(1000)
            return cast("StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy | None", chosen)


def _member(given: E, kind: type[E]) -> E:
    if not isinstance(given, kind):
        names = ", ".join(member.name for member in kind)
        raise ProgramError(f"expected a StateTtlConfig.{kind.__name__} ({names}), got {given!r}")
    return given


def _positive_time(ttl: Time) -> Time:
    if not isinstance(ttl, Time):
        raise ProgramError(f"a time to live is a Time such as Time.hours(1), got {ttl!r}")
    if ttl.to_milliseconds() <= 0:
        raise ProgramError(f"a time to live must be positive, got {ttl.to_milliseconds()} ms")
    return ttl
