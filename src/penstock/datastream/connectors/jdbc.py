"""Databases, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.connectors.jdbc.lookup import JdbcLookupFunction
from penstock.connectors.jdbc.options import JdbcConnectionOptions, JdbcExecutionOptions
from penstock.connectors.jdbc.sink import JdbcSink, JdbcTableSink
from penstock.connectors.jdbc.source import JdbcSource

__all__ = [
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcLookupFunction",
    "JdbcSink",
    "JdbcSource",
    "JdbcTableSink",
]
