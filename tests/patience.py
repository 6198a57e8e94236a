"""Limits of tests that follow the machine: what takes a minute alone takes ten when ten others run."""

from __future__ import annotations

import os


def patience(seconds: float) -> float:
    """The time that something may take that should take so long on a machine with nothing else to do."""
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return seconds * max(1.0, 2.0 * waiting)
