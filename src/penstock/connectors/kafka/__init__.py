"""Kafka, through librdkafka (the package confluent-kafka)."""
