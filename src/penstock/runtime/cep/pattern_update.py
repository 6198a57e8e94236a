"""A new version of a pattern on its way to a running job."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.errors import ProgramError
from penstock.runtime.cep.pattern_model import PatternModel
from penstock.runtime.cep.pattern_rules import check
from penstock.runtime.pickling import dumps_on_driver, loads


@dataclass(frozen=True)
class PatternUpdate:
    """The record of a stream of patterns: under a name, a version, and the pattern in a form that can travel.

    Made by ``CEP.pattern_update(name, version, pattern)`` and ``CEP.pattern_removal(name, version)``.
    """

    name: str
    version: int
    content: bytes | None  # none: the pattern is taken away

    @staticmethod
    def of(name: str, version: int, model: PatternModel | None) -> PatternUpdate:
        if not isinstance(name, str) or not name:
            raise ProgramError(f"a dynamic pattern needs a name, got {name!r}")
        if not isinstance(version, int) or isinstance(version, bool):
            raise ProgramError(f"the version of the pattern {name!r} must be a number, got {version!r}")
        if model is None:
            return PatternUpdate(name, version, None)
        check(model)
        return PatternUpdate(name, version, dumps_on_driver(model))

    def model(self) -> PatternModel | None:
        return None if self.content is None else loads(self.content)
