"""When a file sink closes a part file and begins the next."""

from __future__ import annotations

from typing import Any

from penstock.common.utils import JavaObjectWrapper, refuse_java_object

__all__ = ["DefaultRollingPolicy", "OnCheckpointRollingPolicy", "RollingPolicy"]

_FACTORY = "Use RollingPolicy.default_rolling_policy() or RollingPolicy.on_checkpoint_rolling_policy()."


class RollingPolicy(JavaObjectWrapper):
    """Decides when a part file is complete.

    Use one of the factories, or write a subclass: the methods get an object with ``get_size()``,
    ``get_creation_time()`` and ``get_last_update_time()`` (epoch milliseconds).
    """

    def __init__(self, j_rolling_policy: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_rolling_policy", j_rolling_policy, _FACTORY)
        super().__init__()

    def should_roll_on_checkpoint(self, part_file: Any) -> bool:
        """Asked for every part file at the end of each epoch."""
        return True

    def should_roll_on_event(self, part_file: Any, element: Any) -> bool:
        """Asked before each record; True puts the record into a new part file."""
        return False

    def should_roll_on_processing_time(self, part_file: Any, current_time: int) -> bool:
        """Asked at the interval of ``with_bucket_check_interval``."""
        return False

    def may_write_at_once(self, part_file: Any, added_bytes: int) -> bool:
        """Whether :meth:`should_roll_on_event` cannot be True for any of the records of this many bytes."""
        return type(self).should_roll_on_event is RollingPolicy.should_roll_on_event

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128,
        rollover_interval: int = 60 * 1000,
        inactivity_interval: int = 60 * 1000,
    ) -> DefaultRollingPolicy:
        """Closes a part file that is larger, older or longer unused than this (bytes and milliseconds)."""
        return DefaultRollingPolicy(None, part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Closes every part file at the end of each epoch, so that everything is visible at once."""
        return OnCheckpointRollingPolicy()


class DefaultRollingPolicy(RollingPolicy):
    """By size, age and inactivity: see :meth:`RollingPolicy.default_rolling_policy`."""

    def __init__(
        self,
        j_rolling_policy: Any = None,
        part_size: int = 1024 * 1024 * 128,
        rollover_interval: int = 60 * 1000,
        inactivity_interval: int = 60 * 1000,
    ) -> None:
        super().__init__(j_rolling_policy)
        for name, value in (
            ("part_size", part_size),
            ("rollover_interval", rollover_interval),
            ("inactivity_interval", inactivity_interval),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise ValueError(f"default_rolling_policy: {name} must be a number above 0, not {value!r}.")
        self._part_size = part_size
        self._rollover_interval = rollover_interval
        self._inactivity_interval = inactivity_interval

    def should_roll_on_checkpoint(self, part_file: Any) -> bool:
        return bool(part_file.get_size() > self._part_size)

    def should_roll_on_event(self, part_file: Any, element: Any) -> bool:
        return bool(part_file.get_size() > self._part_size)

    def should_roll_on_processing_time(self, part_file: Any, current_time: int) -> bool:
        return bool(
            current_time - part_file.get_creation_time() >= self._rollover_interval
            or current_time - part_file.get_last_update_time() >= self._inactivity_interval
        )

    def may_write_at_once(self, part_file: Any, added_bytes: int) -> bool:
        return bool(part_file.get_size() + added_bytes <= self._part_size)


class OnCheckpointRollingPolicy(RollingPolicy):
    """At the end of each epoch: see :meth:`RollingPolicy.on_checkpoint_rolling_policy`."""
