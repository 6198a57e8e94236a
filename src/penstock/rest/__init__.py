"""The REST interface of a running job, with Flink's paths and field names."""
