"""Parquet files, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.formats.avro_parquet import AvroParquetReaders, AvroParquetWriters
from penstock.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat

__all__ = ["AvroParquetReaders", "AvroParquetWriters", "ParquetBulkWriters", "ParquetColumnarRowInputFormat"]
