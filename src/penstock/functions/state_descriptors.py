"""How a function names and types the state that it asks for."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation, Types
from penstock.functions.element import AggregateFunction, ReduceFunction
from penstock.functions.wrappers import as_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.functions.state_ttl import StateTtlConfig

__all__ = [
    "AggregatingStateDescriptor",
    "ListStateDescriptor",
    "MapStateDescriptor",
    "ReducingStateDescriptor",
    "StateDescriptor",
    "ValueStateDescriptor",
]


class StateDescriptor(ABC):
    """Name and type of a state. Within one operator a name stands for one state.

    Where a type is expected, None means an untyped (pickled) value.
    """

    def __init__(self, name: str, type_info: TypeInformation | None) -> None:
        if not isinstance(name, str) or not name:
            raise ProgramError(f"{type(self).__name__}: the name of a state must be a non-empty string, got {name!r}")
        self.name = name
        self.type_info = _type_or_pickled(type_info, self)
        self._ttl_config: StateTtlConfig | None = None

    def get_name(self) -> str:
        """The name of the state."""
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let values of this state expire."""
        from penstock.functions.state_ttl import StateTtlConfig

        if not isinstance(ttl_config, StateTtlConfig):
            raise ProgramError(
                f"enable_time_to_live of state {self.name!r} expects a StateTtlConfig "
                f"(StateTtlConfig.new_builder(ttl).build()), got {ttl_config!r}"
            )
        self._ttl_config = ttl_config

    def get_ttl_config(self) -> StateTtlConfig | None:
        """The time to live, or None when values never expire. A disabled one counts as none."""
        config = self._ttl_config
        return config if config is not None and config.is_enabled() else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, type_info={self.type_info})"


class ValueStateDescriptor(StateDescriptor):
    """Describes a ValueState: ``runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))``."""

    def __init__(self, name: str, value_type_info: TypeInformation | None) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor):
    """Describes a ListState by the type of its elements."""

    def __init__(self, name: str, elem_type_info: TypeInformation | None) -> None:
        self.elem_type_info = _type_or_pickled(elem_type_info, self)
        super().__init__(name, Types.LIST(self.elem_type_info))


class MapStateDescriptor(StateDescriptor):
    """Describes a MapState or a BroadcastState by the types of its keys and values."""

    def __init__(
        self, name: str, key_type_info: TypeInformation | None, value_type_info: TypeInformation | None
    ) -> None:
        self.key_type_info = _type_or_pickled(key_type_info, self)
        self.value_type_info = _type_or_pickled(value_type_info, self)
        super().__init__(name, Types.MAP(self.key_type_info, self.value_type_info))


class ReducingStateDescriptor(StateDescriptor):
    """Describes a ReducingState by its ReduceFunction (or a callable of two values) and the values' type."""

    def __init__(
        self,
        name: str,
        reduce_function: ReduceFunction | Callable[[Any, Any], Any],
        type_info: TypeInformation | None,
    ) -> None:
        super().__init__(name, type_info)
        self._reduce_function = as_function(reduce_function, ReduceFunction, f"ReducingStateDescriptor {name!r}")

    def get_reduce_function(self) -> ReduceFunction:
        """The function that combines two values."""
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """Describes an AggregatingState by its AggregateFunction and the type of the accumulator."""

    def __init__(self, name: str, agg_function: AggregateFunction, state_type_info: TypeInformation | None) -> None:
        super().__init__(name, state_type_info)
        self._agg_function = as_function(agg_function, AggregateFunction, f"AggregatingStateDescriptor {name!r}")

    def get_agg_function(self) -> AggregateFunction:
        """The function that aggregates."""
        return self._agg_function


def _type_or_pickled(type_info: TypeInformation | None, descriptor: StateDescriptor) -> TypeInformation:
    if type_info is None:
        return Types.PICKLED_BYTE_ARRAY()
    if not isinstance(type_info, TypeInformation):
        raise ProgramError(
            f"{type(descriptor).__name__} expects a TypeInformation such as Types.LONG() "
            f"(or None for pickled values), got {type_info!r}"
        )
    return type_info
