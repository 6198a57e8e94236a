"""What a named state is: its kind, the declared type of its values, and whether they carry a time to live.

The schema travels with the entries, in every snapshot and savepoint. A program that declares the state otherwise is
noticed by it: its entries are converted when they are loaded, or the job fails before it has written anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import MapTypeInfo, TypeInformation, Types
from penstock.functions.state_descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.runtime.clock import Clock
from penstock.runtime.state.table import DELETED
from penstock.runtime.type_description import UNTYPED, as_text, describe_type, for_people
from penstock.runtime.type_evolution import Converter, IncompatibleTypes, evolution

SCHEMA_VERSION = 1

VALUE, LIST, MAP, REDUCING, AGGREGATING = "value", "list", "map", "reducing", "aggregating"
OPERATOR_LIST, UNION_LIST, BROADCAST = "operator-list", "union-list", "broadcast"

KEYED_KINDS: dict[str, type[StateDescriptor]] = {
    VALUE: ValueStateDescriptor,
    LIST: ListStateDescriptor,
    MAP: MapStateDescriptor,
    REDUCING: ReducingStateDescriptor,
    AGGREGATING: AggregatingStateDescriptor,
}
OPERATOR_KINDS = (OPERATOR_LIST, UNION_LIST, BROADCAST)
_KIND_OF = {descriptor: kind for kind, descriptor in KEYED_KINDS.items()}
_LISTS, _MAPS = (LIST, OPERATOR_LIST, UNION_LIST), (MAP, BROADCAST)

Entries = dict[Any, Any]
EntriesConverter = Callable[[Entries], Entries]


@dataclass(frozen=True)
class StateSchema:
    """Compared with what a program declares. The type is JSON text: of the value, of a list's elements, of a map."""

    kind: str
    type: str = as_text(UNTYPED)
    ttl: int | None = None  # milliseconds; such values are stored with the moment that their life is counted from

    def __str__(self) -> str:
        return f"{self.kind} state of {self.type_text()}{'' if self.ttl is None else ' with time to live'}"

    def type_text(self) -> str:
        """The type for people."""
        return for_people(json.loads(self.type))

    def holds_lists(self) -> bool:
        return self.kind in _LISTS

    def holds_maps(self) -> bool:
        return self.kind in _MAPS

    def to_json(self) -> dict[str, Any]:
        """As the metadata of savepoints shows it."""
        return {"version": SCHEMA_VERSION, "kind": self.kind, "type": json.loads(self.type), "ttl": self.ttl}

    @staticmethod
    def from_json(description: dict[str, Any]) -> StateSchema:
        if description["version"] != SCHEMA_VERSION:
            raise ValueError(f"a state is described in version {description['version']}, not in {SCHEMA_VERSION}")
        return StateSchema(description["kind"], as_text(description["type"]), description["ttl"])


@dataclass(frozen=True)
class DeclaredState:
    """A state as the program asks for it."""

    schema: StateSchema
    type_info: TypeInformation  # of a value, of a list's elements, of a map

    @staticmethod
    def keyed(descriptor: StateDescriptor) -> DeclaredState:
        config = descriptor.get_ttl_config()
        ttl = None if config is None else config.get_ttl().to_milliseconds()
        return _declared(kind_of(type(descriptor)), descriptor, ttl)

    @staticmethod
    def of_operator(kind: str, descriptor: StateDescriptor) -> DeclaredState:
        return _declared(kind, descriptor, None)

    @staticmethod
    def internal(kind: str) -> DeclaredState:
        """State that the engine keeps for itself: the program has no say in its type."""
        return DeclaredState(StateSchema(kind), Types.PICKLED_BYTE_ARRAY())


def kind_of(descriptor_class: type[StateDescriptor]) -> str:
    kind = _KIND_OF.get(descriptor_class)
    if kind is None:
        raise ProgramError(f"{descriptor_class.__name__} is not a descriptor of keyed state")
    return kind


def _declared(kind: str, descriptor: StateDescriptor, ttl: int | None) -> DeclaredState:
    elements = getattr(descriptor, "elem_type_info", None)
    type_info = elements if elements is not None else descriptor.type_info
    return DeclaredState(StateSchema(kind, as_text(describe_type(type_info)), ttl), type_info)


def conversion(saved: StateSchema, declared: DeclaredState, clock: Clock) -> EntriesConverter | None:
    """What makes saved entries entries of the declared state; None if they are. Raises IncompatibleTypes."""
    new = declared.schema
    if saved == new:
        return None
    if saved.kind != new.kind:
        raise IncompatibleTypes(f"a {saved.kind} state cannot become a {new.kind} state")
    if saved.holds_maps():
        return _map_conversion(saved, declared, clock)
    convert = _with_ttl(evolution(json.loads(saved.type), declared.type_info), saved.ttl, new.ttl, clock)
    if convert is None:
        return None
    if saved.holds_lists():
        return lambda entries: {
            key: (replaces, list(map(convert, items))) for key, (replaces, items) in entries.items()
        }
    return lambda entries: {key: value if value is DELETED else convert(value) for key, value in entries.items()}


def _map_conversion(saved: StateSchema, declared: DeclaredState, clock: Clock) -> EntriesConverter | None:
    old, type_info = json.loads(saved.type), declared.type_info
    if old == UNTYPED or not isinstance(type_info, MapTypeInfo):
        raise IncompatibleTypes(f"{for_people(old)} is not the type of a map that a program declares")
    key = _part("the keys", old["key"], type_info.key_type) or _same
    value = _part("the values", old["value"], type_info.value_type)
    convert = _with_ttl(value, saved.ttl, declared.schema.ttl, clock) or _same
    if key is _same and convert is _same:
        return None
    return lambda entries: {
        state_key: (
            replaces,
            {key(k): v if v is DELETED else convert(v) for k, v in content.items()},
        )
        for state_key, (replaces, content) in entries.items()
    }


def _part(what: str, saved: Any, declared: TypeInformation) -> Converter | None:
    try:
        return evolution(saved, declared)
    except IncompatibleTypes as error:
        raise IncompatibleTypes(f"{what}: {error}") from None


def _with_ttl(convert: Converter | None, before: int | None, after: int | None, clock: Clock) -> Converter | None:
    if before is None and after is None:
        return convert
    change = convert or _same
    if before is not None and after is not None:
        return None if convert is None else (lambda stamped: (change(stamped[0]), stamped[1]))
    if before is not None:
        return lambda stamped: change(stamped[0])
    now = clock()
    return lambda value: (change(value), now)


def _same(value: Any) -> Any:
    return value
