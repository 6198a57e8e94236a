"""Reads several sources one after the other, each with the operator of its kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.sources import Element, SourceOperator, SplitSourceOperator
from penstock.runtime.sources.hybrid import HybridWork

_OPERATORS: dict[str, type[SourceOperator]] = {"source": SourceOperator, "split_source": SplitSourceOperator}


class HybridSourceOperator(SourceOperator):
    """Only the end of the last source is the end."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._inner = [
            _OPERATORS[kind](replace(blueprint, kind=kind, function=reader), context)
            for kind, reader in blueprint.function.parts
        ]
        self._index = 0

    def connect(self, output: Any, side_outputs: Any) -> None:
        super().connect(output, side_outputs)
        for operator in self._inner:
            operator.connect(output, side_outputs)

    def close(self) -> None:
        for operator in self._inner:
            operator.close()

    def read(self, work: HybridWork) -> Iterator[Element]:
        self._index = work.index
        for element in self._inner[work.index].read(work.work):
            if element is not None or work.last:
                yield element

    def read_report(self) -> tuple[int, Any]:
        return self._index, self._inner[self._index].read_report()

    @property
    def held_back(self) -> bool:
        return self._inner[self._index].held_back

    def on_commit(self, epoch: int) -> None:
        self._inner[self._index].on_commit(epoch)
