"""PyFlink's module path."""

from __future__ import annotations

from penstock.functions.time_domain import TimeDomain

__all__ = ["TimeDomain"]
