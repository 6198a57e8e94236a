"""The chunks and barriers between the tasks of one generation: where they go, and whether there is room for them."""

from __future__ import annotations

import selectors
from collections import defaultdict

from penstock.control.work import Place
from penstock.engines.resident.barriers import Barrier
from penstock.engines.resident.channels import Connection, connect
from penstock.engines.resident.frames import BARRIER, CHUNK, Frame, Greeting
from penstock.engines.resident.hosted_subtask import INBOX_BYTES, HostedSubtask
from penstock.engines.resident.messages import Deploy
from penstock.engines.resident.run_keys import RunKeys
from penstock.runtime.exchange import ExchangeRow


class Traffic:
    """Knows which subtasks are hosted here; the others are one connection away."""

    def __init__(
        self,
        deploy: Deploy,
        slot: int,
        hosted: dict[Place, HostedSubtask],
        selector: selectors.BaseSelector,
        keys: RunKeys,
    ) -> None:
        self._deploy = deploy
        self._slot = slot
        self._hosted = hosted
        self._selector = selector
        self._keys = keys
        self._outgoing: dict[tuple[int, int], Connection] = {}  # by target level and slot
        self._incoming: dict[int, list[Connection]] = defaultdict(list)  # by level
        self._full: set[int] = set()  # levels that have no room

    # -- out ---------------------------------------------------------------------------------------------------

    def send_rows(self, sender: HostedSubtask) -> None:
        for row in sender.take_rows():
            level, _ = sender.outgoing[row.channel]
            self._send(level, row.subtask, row.channel, row)

    def send_barrier(self, sender: HostedSubtask, barrier: Barrier) -> None:
        for channel, (level, subtasks) in sender.outgoing.items():
            for subtask in subtasks:
                self._send(level, subtask, channel, barrier)

    def has_room(self, sender: HostedSubtask) -> bool:
        """Whether what the subtask would send now can be sent soon."""
        for level, subtasks in sender.outgoing.values():
            for subtask in subtasks:
                local = self._hosted.get((level, subtask))
                if local is not None:
                    if not local.has_room:
                        return False
                    continue
                connection = self._outgoing.get((level, self._deploy.slot_of(subtask)))
                if connection is not None and not connection.has_room:
                    return False
        return True

    def _send(self, level: int, subtask: int, channel: int, what: ExchangeRow | Barrier) -> None:
        local = self._hosted.get((level, subtask))
        if local is not None:
            local.receive(channel, what if isinstance(what, Barrier) else what.payload)
        elif isinstance(what, Barrier):
            self._connection(level, subtask).send(Frame(BARRIER, what.note, subtask, channel, what.epoch))
        else:
            self._connection(level, subtask).send(Frame(CHUNK, what.data, subtask, channel))

    def _connection(self, level: int, subtask: int) -> Connection:
        slot = self._deploy.slot_of(subtask)
        if (level, slot) not in self._outgoing:
            greeting = Greeting(self._deploy.generation, level, self._slot)
            self._outgoing[level, slot] = connect(self._deploy.peers[slot], self._selector, self._keys, greeting)
        return self._outgoing[level, slot]

    # -- in ----------------------------------------------------------------------------------------------------

    def receive(self, connection: Connection, frames: list[Frame]) -> None:
        assert connection.greeting is not None
        level = connection.greeting.level
        if connection not in self._incoming[level]:
            self._incoming[level].append(connection)
            connection.pause(level in self._full)
        for frame in frames:
            subtask = self._hosted[level, frame.subtask]
            subtask.receive(
                frame.channel, frame.payload if frame.kind == CHUNK else Barrier(frame.epoch, frame.payload)
            )
        self.look_at_room(level)

    def look_at_room(self, level: int) -> None:
        """A level that has too much does not read; it reads again when half of that is done."""
        waiting = max((each.waiting_bytes for (of, _), each in self._hosted.items() if of == level), default=0)
        full = waiting >= (INBOX_BYTES // 2 if level in self._full else INBOX_BYTES)
        if full != (level in self._full):
            (self._full.add if full else self._full.discard)(level)
            for connection in self._incoming[level]:
                connection.pause(full)

    def owns(self, connection: Connection) -> bool:
        return connection in self._outgoing.values() or any(connection in many for many in self._incoming.values())

    def close(self) -> None:
        for connection in [*self._outgoing.values(), *(one for many in self._incoming.values() for one in many)]:
            connection.close()
