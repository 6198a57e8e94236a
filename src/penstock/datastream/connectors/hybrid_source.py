"""Sources one after the other, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.connectors.hybrid.source import HybridSource, HybridSourceBuilder

__all__ = ["HybridSource", "HybridSourceBuilder"]
