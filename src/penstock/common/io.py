"""Input formats: in PyFlink a wrapper of Java classes, here only the name."""

from __future__ import annotations

from typing import Any

from penstock.common.utils import JavaObjectWrapper, refuse_java_object

__all__ = ["InputFormat"]


class InputFormat(JavaObjectWrapper):
    """Base of input formats; Java's formats are refused, file sources read without them."""

    def __init__(self, j_input_format: Any = None) -> None:
        refuse_java_object(
            type(self).__name__, "j_input_format", j_input_format, "Read files with a FileSource instead."
        )
        super().__init__()
