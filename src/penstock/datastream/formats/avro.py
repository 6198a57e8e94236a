"""Avro: not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.datastream.connectors._later import refused_classes

globals().update(refused_classes(__name__))

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
