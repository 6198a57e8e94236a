"""Messages become records, many at once, and those that cannot be read are told apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.serialization import DeserializationSchema
from penstock.runtime.batch import Batch


class CannotDecodeNow(JobExecutionError):
    """The messages may be good: what is needed to read them is not there. That fails the job, and skips nothing."""


@dataclass(frozen=True)
class Decoded:
    """Records in the order of their messages. `kept` are the positions of their messages; None for all."""

    records: list[Any] | Batch
    kept: list[int] | None = None
    bad: list[tuple[int, str]] = field(default_factory=list)  # positions, and why


def decode(schema: DeserializationSchema, messages: list[Any]) -> Decoded:
    """A message that is None, or for which the schema gives None, is no record."""
    if None not in messages:
        try:
            together = schema._deserialize_all(messages)
        except CannotDecodeNow:
            raise
        except Exception:  # one by one it shows which
            together = None
        if together is not None:
            return Decoded(together)
    records: list[Any] = []
    kept: list[int] = []
    bad: list[tuple[int, str]] = []
    for position, message in enumerate(messages):
        if message is None:
            continue
        try:
            record = schema.deserialize(message)
        except CannotDecodeNow:
            raise
        except Exception as error:
            bad.append((position, f"{type(error).__name__}: {error}"))
            continue
        if record is not None:
            records.append(record)
            kept.append(position)
    return Decoded(records, None if len(kept) == len(messages) else kept, bad)
