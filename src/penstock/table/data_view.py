"""Collections inside accumulators of aggregate functions."""

from penstock.functions.table_function import DataView, ListView, MapView

__all__ = ["DataView", "ListView", "MapView"]
