"""Avro, under the module path that PyFlink programs import it from."""

from __future__ import annotations

from penstock.formats.avro_files import AvroBulkWriters, AvroInputFormat, AvroReaders
from penstock.formats.avro_messages import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.formats.avro_registry import (
    ConfluentRegistryAvroDeserializationSchema,
    ConfluentRegistryAvroSerializationSchema,
)
from penstock.formats.avro_schema import AvroSchema, GenericRecordAvroTypeInfo

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroReaders",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "ConfluentRegistryAvroDeserializationSchema",
    "ConfluentRegistryAvroSerializationSchema",
    "GenericRecordAvroTypeInfo",
]
