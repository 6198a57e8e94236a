"""What all connectors share, under the module path that PyFlink programs import it from."""

from __future__ import annotations

from penstock.connectors.base import DeliveryGuarantee, Sink, Source, StreamTransformer, SupportsPreprocessing

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]
