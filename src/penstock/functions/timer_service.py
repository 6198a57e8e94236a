"""Time and timers, as a process function sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["TimerService"]


class TimerService(ABC):
    """Asks for the time and sets timers for the current key.

    A key has at most one timer per timestamp and time domain: setting it twice fires it once.
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """The clock of the machine, in epoch milliseconds."""

    @abstractmethod
    def current_watermark(self) -> int:
        """The watermark of this operator; the smallest long before there is one."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Call ``on_timer`` when the clock reaches ``timestamp``."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Call ``on_timer`` when the watermark reaches ``timestamp``."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete the current key's processing-time timer at ``timestamp``, if there is one."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete the current key's event-time timer at ``timestamp``, if there is one."""
