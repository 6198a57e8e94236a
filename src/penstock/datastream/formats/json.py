"""JSON messages, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]
