"""Sources and sinks are Python base classes; Java ones are refused with the way out."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.datastream.functions import Function, JavaFunctionWrapper, SinkFunction, SourceFunction


class Numbers(SourceFunction):
    def __init__(self, end: int) -> None:
        self.end = end

    def run(self, ctx: SourceFunction.SourceContext) -> None:
        for number in range(self.end):
            ctx.collect(number)


class Collecting(SinkFunction):
    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        pass


def test_subclasses_are_functions_with_their_own_constructor() -> None:
    assert Numbers(3).end == 3
    assert isinstance(Numbers(3), Function)
    assert isinstance(Collecting(), Function)


@pytest.mark.parametrize(
    ("base", "instead"),
    [
        (SourceFunction, r"implement run\(ctx\)"),
        (SinkFunction, r"implement invoke\(value, context\)"),
        (JavaFunctionWrapper, "in Python"),
    ],
)
@pytest.mark.parametrize("java", ["org.example.MyFunction", object()])
def test_java_functions_are_refused_with_the_way_out(base: Any, instead: str, java: Any) -> None:
    with pytest.raises(NotSupportedError, match=instead):
        base(java)


def test_a_java_class_through_a_subclass_is_refused_too() -> None:
    with pytest.raises(NotSupportedError, match="Java class 'org.example.MySink'"):
        Collecting("org.example.MySink")


def test_a_base_class_alone_says_what_to_do() -> None:
    with pytest.raises(ProgramError, match="subclass SourceFunction"):
        SourceFunction()  # type: ignore[abstract]
