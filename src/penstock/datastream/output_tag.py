"""PyFlink's module path."""

from __future__ import annotations

from penstock.functions.output_tag import OutputTag

__all__ = ["OutputTag"]
