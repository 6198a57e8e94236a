"""Combines the watermarks of an operator's input channels into the operator's own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from penstock.runtime.batch import MIN_TIMESTAMP


@dataclass(frozen=True)
class InputsSnapshot:
    """How far the inputs of an operator are; means nothing to a job with other channels, but for the watermark."""

    watermark: int
    idle: bool = False
    channels: Mapping[Hashable, tuple[int, bool, bool]] | None = None  # watermark, idle, ended
    finished_inputs: frozenset[int] = frozenset()
    finished: bool = False


class _Channel:
    __slots__ = ("ended", "idle", "watermark")

    def __init__(self) -> None:
        self.watermark = MIN_TIMESTAMP
        self.idle = False
        self.ended = False


class WatermarkValve:
    """Minimum over the active channels; idle ones are left out, and never take the minimum back."""

    def __init__(self, channels: Iterable[Hashable]) -> None:
        self._channels = {channel: _Channel() for channel in channels}
        self.watermark = MIN_TIMESTAMP
        self.idle = False

    def advance(self, channel: Hashable, timestamp: int) -> int | None:
        """The operator's new watermark, if this one moves it."""
        state = self._channels[channel]
        if timestamp <= state.watermark:
            return None
        state.watermark = timestamp
        return None if state.idle else self._raise_to_minimum()

    def set_idle(self, channel: Hashable, idle: bool) -> tuple[int | None, bool | None]:
        """The operator's new watermark and its new idleness, each None when unchanged."""
        state = self._channels[channel]
        if state.idle == idle:
            return None, None
        state.idle = idle
        active = [c for c in self._channels.values() if not c.idle]
        if not active:
            # The last active channel held the others back; what they had reached now counts.
            furthest = max(c.watermark for c in self._channels.values())
            self.idle = True
            return self._raise_to(furthest), True
        was_idle, self.idle = self.idle, False
        return self._raise_to_minimum(), (False if was_idle else None)

    def end(self, channel: Hashable) -> None:
        self._channels[channel].ended = True

    def ended(self, channels: Iterable[Hashable] | None = None) -> bool:
        """Whether nothing more comes from these channels (from any channel)."""
        of = self._channels if channels is None else channels
        return all(self._channels[channel].ended for channel in of)

    def _raise_to_minimum(self) -> int | None:
        return self._raise_to(min(c.watermark for c in self._channels.values() if not c.idle))

    def _raise_to(self, timestamp: int) -> int | None:
        if timestamp <= self.watermark:
            return None
        self.watermark = timestamp
        return timestamp

    def snapshot(self, finished_inputs: Iterable[int] = (), finished: bool = False) -> InputsSnapshot:
        """With what else the operator's station remembers of its inputs."""
        channels = {name: (c.watermark, c.idle, c.ended) for name, c in self._channels.items()}
        return InputsSnapshot(self.watermark, self.idle, channels, frozenset(finished_inputs), finished)

    def start_at(self, watermark: int) -> None:
        """All channels begin at a moment that the job, run with other channels, had reached before."""
        self.watermark = watermark
        for channel in self._channels.values():
            channel.watermark = watermark

    def restore(self, snapshot: InputsSnapshot) -> None:
        self.watermark, self.idle = snapshot.watermark, snapshot.idle
        for name, (watermark, idle, ended) in (snapshot.channels or {}).items():
            channel = self._channels[name]
            channel.watermark, channel.idle, channel.ended = watermark, idle, ended
