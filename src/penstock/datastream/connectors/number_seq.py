"""The source of consecutive numbers, under the module path that PyFlink programs import it from."""

from __future__ import annotations

from penstock.connectors.number_sequence import NumberSequenceSource

__all__ = ["NumberSequenceSource"]
