"""Messages that are durable before their epoch is, and of which Kafka has seen nothing."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.serializer import Messages
from penstock.storage import storage_at


@dataclass(frozen=True)
class StagedPart:
    """Messages of one subtask, in their order. No two parts have the same id, whoever stages them."""

    part_id: str
    first_topic: str
    content: tuple[bytes, ...] | None  # None: it is in the file named by the id
    lane: str = ""  # the transactional id by which its writer produces it; of the others the committer has one
    group: str = ""  # parts that a writer produces in one transaction, whoever does it and however often it is tried
    left_to_writer: bool = False  # who lives on, and will hear that the epoch is committed

    def messages(self, directory: str | None) -> Iterator[Messages]:
        if self.content is not None:
            yield from map(pickle.loads, self.content)
            return
        assert directory is not None
        try:
            file = storage_at(directory).open(self.part_id)
        except FileNotFoundError:
            raise JobExecutionError(
                f"Results that were computed but are not in Kafka yet are missing: {directory}/{self.part_id}. The"
                " directory belongs to the job and must stay as long as the job does."
            ) from None
        with file:
            while True:
                try:
                    yield pickle.load(file)
                except EOFError:
                    return

    def topics(self, directory: str | None) -> set[str]:
        """Without those of a file that is gone: then all of it is in Kafka."""
        found = {self.first_topic}
        if self.content is not None or (directory is not None and storage_at(directory).exists(self.part_id)):
            found.update(*(messages.all_topics for messages in self.messages(directory)))
        return found

    def delete(self, directory: str | None) -> None:
        if self.content is None and directory is not None:
            storage_at(directory).delete(self.part_id)
