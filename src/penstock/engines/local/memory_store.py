"""Keeps the snapshots of one subtask in this process: what an epoch has changed counts when the epoch is complete."""

from __future__ import annotations

from penstock.runtime.state_log import Place


class MemoryStore:
    """Remembers what it had before the running epoch, as Spark's store does with its versions."""

    def __init__(self) -> None:
        self.entries: dict[Place, bytes] = {}
        self._before: dict[Place, bytes | None] = {}

    def get(self, place: Place) -> bytes | None:
        return self.entries.get(place)

    def put(self, place: Place, content: bytes) -> None:
        self._before.setdefault(place, self.entries.get(place))
        self.entries[place] = content

    def remove(self, place: Place) -> None:
        self._before.setdefault(place, self.entries[place])
        del self.entries[place]

    def commit(self) -> None:
        self._before.clear()

    def roll_back(self) -> None:
        for place, content in self._before.items():
            if content is None:
                self.entries.pop(place, None)
            else:
                self.entries[place] = content
        self._before.clear()
