"""ORC files, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat

__all__ = ["OrcBulkWriters", "OrcColumnarRowInputFormat"]
