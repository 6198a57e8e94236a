"""RabbitMQ, under the module path that PyFlink programs import it from."""

from __future__ import annotations

from penstock.connectors.rabbitmq.config import RMQConnectionConfig
from penstock.connectors.rabbitmq.sink import RMQSink
from penstock.connectors.rabbitmq.source import RMQSource

__all__ = ["RMQConnectionConfig", "RMQSink", "RMQSource"]
