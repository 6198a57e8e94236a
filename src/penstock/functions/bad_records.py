"""What becomes of input that cannot be decoded, chosen for each source.

Readers only say what they could not decode, where it was and why. The operator that drives them does what the program
chose: fail, leave it out, or pass it on to a side output. In any case it is counted in ``numRecordsInErrors``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.functions.output_tag import OutputTag

__all__ = ["BadRecord", "BadRecords"]

_SHOWN = 200


class BadRecord(NamedTuple):
    """Bytes that are no record. As the type of a tag for them take ``BadRecords.TYPE``."""

    raw: bytes
    place: str  # such as "orders-3 at offset 17"
    reason: str

    def __str__(self) -> str:
        shown = f"{self.raw[:_SHOWN]!r}{'...' if len(self.raw) > _SHOWN else ''}"
        return f"the record of {self.place} cannot be decoded: {self.reason}. Its bytes: {shown}"


class BadRecords:
    """The choice. Example::

    broken = OutputTag("broken", BadRecords.TYPE)
    source = KafkaSource.builder()....set_bad_records(BadRecords.to(broken)).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")
    stream.get_side_output(broken).sink_to(...)
    """

    TYPE = Types.TUPLE([Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.STRING(), Types.STRING()])

    def __init__(self, fails: bool, tag: OutputTag | None) -> None:
        self.fails = fails
        self.tag = tag

    @staticmethod
    def fail() -> BadRecords:
        """The job fails with the record's place, the reason and the first bytes."""
        return BadRecords(True, None)

    @staticmethod
    def skip() -> BadRecords:
        """They are left out, and counted."""
        return BadRecords(False, None)

    @staticmethod
    def to(tag: OutputTag) -> BadRecords:
        """They go to ``stream.get_side_output(tag)`` as :class:`BadRecord`."""
        if not isinstance(tag, OutputTag):
            raise ProgramError(f"BadRecords.to() takes an OutputTag, got {tag!r}")
        return BadRecords(False, tag)


def chosen_for(source: Any) -> BadRecords:
    """Sources that say nothing fail."""
    chosen: BadRecords | None = getattr(source, "bad_records", None)
    return BadRecords.fail() if chosen is None else chosen
