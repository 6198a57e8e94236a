"""What a program can set on an operator after creating it: shared by streams and sinks."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from penstock.common.errors import ProgramError
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.graph.transformation import Chaining, Node

if TYPE_CHECKING:
    from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["OperatorSettings"]

_MOST_KEY_GROUPS = 1 << 15
_PARALLELISM_DEFAULT = -1


class OperatorSettings(ABC):
    """Settings of the operator that a stream comes out of, or of a sink. Setters return the object itself."""

    _env: StreamExecutionEnvironment

    @abstractmethod
    def _operator_nodes(self, operation: str) -> tuple[Node, ...]:
        """The operator's own node first, then those that belong to it; refuses what is no operator."""

    def name(self, name: str) -> Self:
        """Sets the name that plans, logs and errors show."""
        self._operator_nodes("name()")[0].name = name
        return self

    def uid(self, uid: str) -> Self:
        """Sets the identity under which the operator's state is kept and found again; unique in its job."""
        if not isinstance(uid, str) or not uid:
            raise ProgramError(f"uid() takes a non-empty string, got {uid!r}")
        self._operator_nodes("uid()")[0].uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Sets the identity as it is: to find state again that was written under a generated one."""
        if not isinstance(uid_hash, str) or not re.fullmatch("[0-9A-Fa-f]{32}", uid_hash):
            raise ProgramError(
                f"Node hash must be a 32 character String that describes a hex code. Found: {uid_hash!r}"
            )
        return self.uid(uid_hash.lower())

    def set_parallelism(self, parallelism: int) -> Self:
        """Sets the number of subtasks; -1 for the environment's."""
        nodes = self._operator_nodes("set_parallelism()")
        if parallelism != _PARALLELISM_DEFAULT:
            _require_count(parallelism, "The parallelism of an operator")
        if nodes[0].fixed_parallelism:
            if parallelism != 1:
                raise ProgramError(
                    f"The parallelism of non parallel operator must be 1: {nodes[0].name!r} cannot be split"
                    f" over {parallelism} subtasks. Set the parallelism of the operators after it."
                )
            return self
        for node in nodes:
            node.parallelism = None if parallelism == _PARALLELISM_DEFAULT else parallelism
        return self

    def _set_max_parallelism(self, max_parallelism: int) -> None:
        nodes = self._operator_nodes("set_max_parallelism()")
        _require_count(max_parallelism, "The maximum parallelism")
        if max_parallelism > _MOST_KEY_GROUPS:
            raise ProgramError(
                f"Maximum parallelism must be between 1 and {_MOST_KEY_GROUPS}. Found: {max_parallelism}"
            )
        for node in nodes:
            node.max_parallelism = max_parallelism

    def set_description(self, description: str) -> Self:
        """Sets a longer text about the operator, shown beside its name."""
        self._operator_nodes("set_description()")[0].description = description
        return self

    def disable_chaining(self) -> Self:
        """Gives the operator a task of its own."""
        for node in self._operator_nodes("disable_chaining()"):
            node.chaining = Chaining.NEVER
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Puts the operator into a group; operators of different groups are not chained."""
        if isinstance(slot_sharing_group, SlotSharingGroup):
            self._env.register_slot_sharing_group(slot_sharing_group)
            name = slot_sharing_group.get_name()
        elif isinstance(slot_sharing_group, str):
            name = slot_sharing_group
        else:
            raise ProgramError(f"slot_sharing_group() takes a name or a SlotSharingGroup, got {slot_sharing_group!r}")
        for node in self._operator_nodes("slot_sharing_group()"):
            node.slot_sharing_group = name
        return self


def _require_count(number: int, what: str) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ProgramError(f"{what} must be a whole number of at least 1, got {number!r}")


def warn_of_buffer_timeout(timeout_millis: int) -> None:
    """Checks the value as Flink does and says that nothing follows from it."""
    if not isinstance(timeout_millis, int) or timeout_millis < -1:
        raise ProgramError(f"Timeout of buffer must be non-negative or -1, got {timeout_millis!r}")
    warnings.warn(
        "set_buffer_timeout() has no effect: records travel at the end of each epoch, there are no network"
        " buffers to flush; see penstock.epoch.target-ms.",
        stacklevel=4,
    )
