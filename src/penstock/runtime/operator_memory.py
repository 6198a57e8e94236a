"""Everything that an operator subtask remembers between epochs, and the one form in which it is saved.

An operator takes part by using the parts: tables of keyed state, state without key, timers, tracked objects of the
user, metrics. What fits into none of them is its `extra`. Nobody else knows how the parts are put together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.metrics.values import MetricValue
from penstock.runtime.attributes import AttributeTracker
from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.clock import Clock
from penstock.runtime.key_layout import owned_timers
from penstock.runtime.keys import key_group_of, owner_of_key_group
from penstock.runtime.metrics import MetricTree
from penstock.runtime.savepoint import SavedState
from penstock.runtime.state.backend import KeyedStateBackend
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state.operator_state import OperatorStates
from penstock.runtime.state_registry import StateRegistry
from penstock.runtime.state_schema import OPERATOR_KINDS, StateSchema
from penstock.runtime.timers import TimerChanges, Timers
from penstock.runtime.valve import InputsSnapshot

Tables = dict[str, tuple[StateSchema, Any]]  # by name: what it is, and a delta of it


@dataclass
class OperatorSnapshot:
    """What changed since the last one, or everything. None and empty stand for no change."""

    watermark: int = MIN_TIMESTAMP
    inputs: InputsSnapshot | None = None
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the role of the user's object
    operator_state: Tables | None = None
    tables: Tables | None = None
    timers: TimerChanges | None = None
    metrics: dict[str, MetricValue] = field(default_factory=dict)
    extra: bytes | None = None  # pickled

    def __bool__(self) -> bool:
        """Whether somebody would miss it: state, timers or attributes."""
        without_key = any(delta for _, delta in (self.operator_state or {}).values())
        return bool(without_key or self.tables or self.timers or any(self.attributes.values()))


class OperatorMemory:
    """The parts, of one operator subtask."""

    def __init__(self, operator: OperatorBlueprint, subtask: int, clock: Clock, store: DiskStore | None) -> None:
        owner = f"the operator {operator.name!r} (uid {operator.uid})"
        self._operator = operator
        self._subtask = subtask
        self._registries = (StateRegistry(owner, clock), StateRegistry(owner, clock))
        disk = None if store is None else DiskTables(store, operator.uid)
        self.keyed = KeyedStateBackend(clock, self._registries[0], disk)
        self.unkeyed = OperatorStates(self._registries[1])
        self.timers = Timers(self.keyed.scope)
        self.metrics = MetricTree()
        self._objects: dict[str, AttributeTracker] = {}
        self.opened = False
        self.restored = False  # there was something before open()
        self._from_savepoint = False

    def track(self, role: str, user_object: Any) -> None:
        """From now on the plain attributes of an object of the user are remembered."""
        self._objects[role] = AttributeTracker(user_object)

    def mark_opened(self) -> None:
        """The user's objects have been opened."""
        self.opened = True
        for tracker in self._objects.values():
            # What was made of a savepoint's state cannot be made again elsewhere.
            tracker.mark_opened(repeatable=not self._from_savepoint)

    # -- snapshots ---------------------------------------------------------------------------------------------

    def take(self, full: bool) -> OperatorSnapshot:
        """What changed since the last call, or everything; tables on disk are saved in pages of the store instead."""
        changed = {role: tracker.take_changes() for role, tracker in self._objects.items()}
        unkeyed, tables, timers = self.unkeyed.take_delta(), self.keyed.take_delta(), self.timers.take_delta()
        if full:
            changed, unkeyed, timers = self._attributes(), self.unkeyed.full_delta(), self.timers.full_delta()
            tables = self.keyed.full_delta()
            for registry in self._registries:
                registry.converted = False
        return OperatorSnapshot(
            attributes={role: attributes for role, attributes in changed.items() if attributes},
            operator_state=unkeyed,
            tables=tables,
            timers=timers,
            metrics=self.metrics.values(),
        )

    def load(self, snapshot: OperatorSnapshot, full: bool = False) -> None:
        """Brings a (possibly older) memory up to date; the inverse of take()."""
        self.restored = self.restored or not self.opened
        for role, attributes in snapshot.attributes.items():
            if role in self._objects:
                self._objects[role].apply(attributes)
        if snapshot.operator_state is not None:
            self.unkeyed.apply_delta(snapshot.operator_state)
        if snapshot.tables is not None:
            (self.keyed.apply_full if full else self.keyed.apply_delta)(snapshot.tables)
        if snapshot.timers is not None:
            self.timers.apply_delta(snapshot.timers)
        self.metrics.load(snapshot.metrics)

    def converted(self) -> bool:
        """Whether entries have another form than in the last full snapshot, so that a delta does not fit to it."""
        return any(registry.converted for registry in self._registries)

    # -- savepoints --------------------------------------------------------------------------------------------

    def without_tables(self) -> OperatorSnapshot:
        """Everything but the tables of keyed state, which are saved in pieces; right after take()."""
        return OperatorSnapshot(
            attributes=self._attributes(), operator_state=self.unkeyed.full_delta(), timers=self.timers.full_delta()
        )

    def expect(self, saved: tuple[SavedState, ...]) -> None:
        """Before open(): the states that a savepoint has of this operator."""
        for state in saved:
            schema = StateSchema.from_json(state.schema)
            self._registries[schema.kind in OPERATOR_KINDS].expect({state.name: schema})

    def take_over_unkeyed(self, saved: dict[int, OperatorSnapshot], old_parallelism: int) -> None:
        """Before open(): this subtask's share of the state without key."""
        self.restored = self._from_savepoint = True
        deltas = [(subtask, snapshot.operator_state) for subtask, snapshot in saved.items()]
        self.unkeyed.restore(deltas, self._subtask, self._operator.parallelism, old_parallelism)

    def take_over(self, saved: dict[int, OperatorSnapshot], old_parallelism: int) -> None:
        """After open(): this subtask's share of timers and attributes."""
        own = saved.get(self._subtask)
        # Plain attributes belong to a subtask; when the subtasks change there is nobody to give them to, as in Flink.
        if own is not None and old_parallelism == self._operator.parallelism:
            for role, attributes in own.attributes.items():
                if role in self._objects:
                    self._objects[role].apply(attributes)
        for snapshot in saved.values():
            if snapshot.timers is not None:
                event, processing = snapshot.timers.event, snapshot.timers.processing
                self.timers.apply_delta(
                    TimerChanges(owned_timers(event, self.owns), owned_timers(processing, self.owns))
                )

    def owns(self, key: Any) -> bool:
        operator = self._operator
        group = key_group_of(key, operator.max_parallelism)
        return owner_of_key_group(group, operator.parallelism, operator.max_parallelism) == self._subtask

    def schemas(self) -> dict[str, StateSchema]:
        """Of all states, with and without key."""
        return {name: schema for registry in self._registries for name, schema in registry.schemas().items()}

    def state_schemas(self) -> tuple[SavedState, ...]:
        """What a savepoint says of this operator's states."""
        return tuple(
            SavedState(name, schema.to_json())
            for registry in self._registries
            for name, schema in registry.schemas().items()
        )

    def _attributes(self) -> dict[str, dict[str, Any]]:
        return {role: tracker.all_changes() for role, tracker in self._objects.items()}
