"""The rows that Spark carries between the levels, as Spark sees them."""

SPARK_SCHEMA = "target int, channel long, seq long, payload binary"
