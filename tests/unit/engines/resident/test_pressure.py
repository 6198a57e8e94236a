"""How long a subtask had work, and no room for what it would send."""

from __future__ import annotations

import pytest

from penstock.engines.resident.hosted_subtask import Pressure


def test_the_share_of_time_without_room_since_the_last_report() -> None:
    now = [100.0]
    pressure = Pressure(clock=lambda: now[0])
    now[0] += 0.5
    pressure.press()
    now[0] += 1.0
    pressure.press()  # still: the time since the first look counts
    now[0] += 0.2
    pressure.release()
    pressure.release()
    now[0] += 0.3
    assert pressure.share() == pytest.approx(0.6)
    pressure.press()
    now[0] += 1.0
    assert pressure.share() == pytest.approx(1.0)  # it goes on
    now[0] += 1.0
    pressure.release()
    now[0] += 1.0
    assert pressure.share() == pytest.approx(0.5)
