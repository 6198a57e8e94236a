"""What the program says to the operator for patterns."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.typeinfo import TypeInformation
from penstock.runtime.cep.event_queue import Comparator
from penstock.runtime.cep.pattern_model import PatternModel

PARAMETER = "cep"


@dataclass(frozen=True)
class CepSettings:
    model: PatternModel | None  # none: patterns come over the second input
    processing_time: bool = False
    comparator: Comparator | None = None
    late_tag: str | None = None
    event_type: TypeInformation | None = None  # as declared, for conditions on columns
