"""Finds the user's line behind a call into the API."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path

from penstock.common.credentials import without_credentials
from penstock.runtime.blueprint import Origin

_PACKAGE = str(Path(__file__).resolve().parent.parent)


def user_line() -> Origin:
    """The innermost stack frame that is not Penstock's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Origin(file, line, without_credentials(linecache.getline(file, line).strip()))
