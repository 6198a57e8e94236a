"""What goes into a chunk comes out of it, in the same order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch, Control, EndOfInput, Idleness, Watermark
from penstock.runtime.chunk import ChunkBuilder, read_chunk

controls = st.one_of(
    st.builds(Watermark, st.integers(-(1 << 63), (1 << 63) - 1)),
    st.builds(Idleness, st.booleans()),
    st.just(EndOfInput()),
)
records = st.lists(st.tuples(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(-1000, 1000)), min_size=1, max_size=5)


@pytest.mark.parametrize("typed", [False, True])
@given(st.lists(st.one_of(controls, records), max_size=12))
def test_round_trip_keeps_records_timestamps_keys_and_places_of_controls(typed: bool, elements: list[Any]) -> None:
    codec = codec_for(Types.INT()) if typed else None
    builder, sent = ChunkBuilder(), []
    for element in elements:
        if isinstance(element, list):
            values = [value for value, _ in element]
            builder.add(Batch(values, [time for _, time in element], [value % 7 for value in values]))
            sent += [(value, time, value % 7) for value, time in element]
        else:
            builder.add_control(element)
            sent.append(element)
    assert bool(builder) == bool(sent)
    received: list[Any] = []
    for element in read_chunk(builder.take(codec), codec):
        if isinstance(element, Batch):
            if element.values:
                assert element.timestamps is not None and element.keys is not None
                received += zip(element.values, element.timestamps, element.keys, strict=True)
        else:
            received.append(element)
    assert received == sent
    assert not builder


@pytest.mark.parametrize(
    "value", ["ü\U0001f600", None, b"\x00", 10**100, float("inf"), {"a": [1, {2}]}, "x" * 10_000_000]
)
def test_untyped_values(value: Any) -> None:
    builder = ChunkBuilder()
    builder.add(Batch([value]))
    [batch] = read_chunk(builder.take(None), None)
    assert isinstance(batch, Batch) and batch.values == [value]
    assert batch.timestamps is None and batch.keys is None


def test_a_chunk_of_controls_alone() -> None:
    builder = ChunkBuilder()
    sent: list[Control] = [Watermark(1), Idleness(True), EndOfInput()]
    for control in sent:
        builder.add_control(control)
    assert list(read_chunk(builder.take(codec_for(Types.STRING())), codec_for(Types.STRING()))) == sent
