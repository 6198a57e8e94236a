"""Libraries that work for Penstock in the program's process, and whose log the program did not ask for."""

from __future__ import annotations

import logging


def only_warnings_of(library: str) -> None:
    """A program that sets its root logger to INFO means its own messages; who names the library's logger gets them."""
    logger = logging.getLogger(library)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
