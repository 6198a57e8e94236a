"""Cassandra, under the module path that PyFlink programs import it from."""

from __future__ import annotations

from penstock.connectors.cassandra.cluster import ClusterBuilder
from penstock.connectors.cassandra.sink import CassandraSink, ConsistencyLevel, MapperOptions
from penstock.connectors.cassandra.writing import CassandraCommitter, CassandraFailureHandler

__all__ = [
    "CassandraCommitter",
    "CassandraFailureHandler",
    "CassandraSink",
    "ClusterBuilder",
    "ConsistencyLevel",
    "MapperOptions",
]
