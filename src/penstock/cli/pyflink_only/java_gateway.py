"""`from pyflink.java_gateway import get_gateway`: may be imported, as long as nobody calls it."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import NotSupportedError


def get_gateway() -> Any:
    raise NotSupportedError("get_gateway(): no Java code of Flink runs on Penstock. Say it in Python.")
