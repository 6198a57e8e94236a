"""Barriers against a naive model: any interleaving of channels, several epochs under way."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from penstock.engines.resident.barriers import Alignment, Barrier, Deliver, EndEpoch, EpochsInFlight

Chunk = tuple[int, int, int]  # channel, epoch, number


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[int, int, list[tuple[int, Chunk | Barrier]]]:
    """Channels, epochs, and what arrives: each channel in its own order, interleaved at will."""
    channels, epochs = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    streams: list[deque[Chunk | Barrier]] = []
    for channel in range(channels):
        stream: deque[Chunk | Barrier] = deque()
        for epoch in range(1, epochs + 1):
            stream.extend((channel, epoch, number) for number in range(draw(st.integers(0, 3))))
            stream.append(Barrier(epoch))
        streams.append(stream)
    order = []
    while any(streams):
        channel = draw(st.sampled_from([number for number, stream in enumerate(streams) if stream]))
        order.append((channel, streams[channel].popleft()))
    return channels, epochs, order


def run(alignment: Alignment[Chunk], order: list[tuple[int, Chunk | Barrier]]) -> list[Chunk | int]:
    """Chunks as they are delivered, and the numbers of epochs where they end."""
    seen: list[Chunk | int] = []
    for channel, element in order:
        for instruction in alignment.receive(channel, element):
            match instruction:
                case Deliver(chunk):
                    seen.append(chunk)
                case EndEpoch(barrier):
                    seen.append(barrier.epoch)
    return seen


@given(arrivals())
def test_an_aligned_snapshot_holds_exactly_the_epochs_up_to_its_own(
    case: tuple[int, int, list[tuple[int, Chunk | Barrier]]],
) -> None:
    channels, epochs, order = case
    alignment: Alignment[Chunk] = Alignment(range(channels))
    seen = run(alignment, order)
    assert [entry for entry in seen if isinstance(entry, int)] == list(range(1, epochs + 1))
    current = 1
    for entry in seen:
        if isinstance(entry, int):
            current = entry + 1
        else:
            assert entry[1] == current, "a chunk was delivered in the wrong epoch"
    assert not alignment.aligning


@given(arrivals(), st.booleans())
def test_nothing_is_lost_doubled_or_reordered_within_a_channel(
    case: tuple[int, int, list[tuple[int, Chunk | Barrier]]], exactly_once: bool
) -> None:
    channels, _, order = case
    seen = run(Alignment(range(channels), exactly_once), order)
    for channel in range(channels):
        sent = [element for of, element in order if of == channel and not isinstance(element, Barrier)]
        assert [entry for entry in seen if not isinstance(entry, int) and entry[0] == channel] == sent


@given(arrivals())
def test_at_least_once_delivers_at_once_and_ends_epochs_when_all_barriers_are_there(
    case: tuple[int, int, list[tuple[int, Chunk | Barrier]]],
) -> None:
    channels, epochs, order = case
    expected: list[Chunk | int] = []
    arrived = dict.fromkeys(range(1, epochs + 1), 0)
    for _, element in order:
        if isinstance(element, Barrier):
            arrived[element.epoch] += 1
            if arrived[element.epoch] == channels:
                expected.append(element.epoch)
        else:
            expected.append(element)
    assert run(Alignment(range(channels), exactly_once=False), order) == expected


def test_a_note_travels_with_its_barrier() -> None:
    alignment: Alignment[Chunk] = Alignment([7, 8])
    alignment.receive(7, Barrier(1, b"a savepoint"))
    assert alignment.receive(8, Barrier(1, b"a savepoint")) == [EndEpoch(Barrier(1, b"a savepoint"))]


PLACES = [(0, 0), (1, 0)]


@given(st.permutations([(epoch, place) for epoch in (1, 2, 3) for place in PLACES]))
def test_epochs_complete_in_order_whatever_the_order_of_reports(reports: list[tuple[int, tuple[int, int]]]) -> None:
    flight: EpochsInFlight[str, tuple[int, int]] = EpochsInFlight(PLACES, limit=3, timeout=60)
    for epoch in (1, 2, 3):
        flight.begin(epoch, f"plan {epoch}", now=0)
    assert not flight.room
    completed = []
    for number, (epoch, place) in enumerate(reports):
        for plan, of_all in flight.report(epoch, place, place, now=0.1):
            completed.append(plan)
            known = reports[: number + 1]
            assert {(int(plan[-1]), place) for place in PLACES} <= set(known)
            assert sorted(of_all) == PLACES
    assert completed == ["plan 1", "plan 2", "plan 3"]
    assert flight.room


def test_an_epoch_that_is_late_says_who_has_not_reported() -> None:
    flight: EpochsInFlight[str, str] = EpochsInFlight(PLACES, limit=3, timeout=60)
    flight.begin(1, "plan", now=100)
    flight.report(1, (0, 0), "done", now=101)
    assert flight.overdue(159.9) is None
    assert flight.overdue(160) == (1, [(1, 0)])


def test_reports_of_abandoned_epochs_are_nothing() -> None:
    flight: EpochsInFlight[str, str] = EpochsInFlight([(0, 0)], limit=3, timeout=60)
    flight.begin(1, "first try", now=0)
    flight.abandon()
    assert flight.report(1, (0, 0), "late", now=2) == []
    flight.begin(1, "second try", now=1)
    assert flight.report(1, (0, 0), "done", now=2) == [("second try", ["done"])]


def depth_after(*durations: float) -> int:
    """How many epochs may be under way once epochs of these durations are complete, planned as early as allowed."""
    flight: EpochsInFlight[int, str] = EpochsInFlight([(0, 0)], limit=3, timeout=60)
    now, planned = 100.0, 0
    for done, seconds in enumerate(durations):
        while flight.room:
            planned += 1
            flight.begin(planned, planned, now)
        now += seconds
        assert flight.report(done + 1, (0, 0), "done", now) == [(done + 1, ["done"])]
    while flight.room:
        planned += 1
        flight.begin(planned, planned, now)
    return len(flight)


def test_as_many_epochs_are_under_way_as_keep_the_tasks_busy() -> None:
    assert depth_after() == 1, "nobody knows yet how long an epoch takes"
    assert depth_after(0.01) == depth_after(0.01, 0.01, 0.01) == 3
    assert depth_after(1.0) == depth_after(1.0, 1.0, 1.0) == 2, "a third one would only wait"
    assert depth_after(1.0, 0.01) == 3
    assert depth_after(0.01, 0.01, 1.0) == 2


def test_after_everything_was_abandoned_one_epoch_shows_how_long_they_take_now() -> None:
    flight: EpochsInFlight[str, str] = EpochsInFlight([(0, 0)], limit=3, timeout=60)
    flight.begin(1, "first", now=0)
    flight.report(1, (0, 0), "done", now=0.01)
    flight.abandon()
    flight.begin(2, "second", now=1)
    assert not flight.room
