"""The engine in this process, without Spark."""
