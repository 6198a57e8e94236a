"""The bytes of a column of texts as numpy sees them: what all rows have in common is found without a look at each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Ends = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def text_bytes(texts: pa.Array) -> tuple[Ends, Bytes]:
    """Where each text begins, followed by where the last one ends, and the bytes that these places are in."""
    _, offsets, content = texts.buffers()
    width: Any = np.int64 if pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type) else np.int32
    if offsets is None or not len(texts):
        return np.zeros(len(texts) + 1, width), np.zeros(0, np.uint8)
    ends = np.frombuffer(offsets, width)[texts.offset : texts.offset + len(texts) + 1]
    return ends, np.zeros(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
