"""The dialects of SQL."""

__all__ = ["SqlDialect"]


class SqlDialect:
    """DEFAULT is Flink SQL; HIVE is refused where it is set."""

    DEFAULT = 0
    HIVE = 1
