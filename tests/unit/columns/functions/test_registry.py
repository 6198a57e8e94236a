"""Every function of Flink 2.3 has a row, or a line that says why it has none."""

from __future__ import annotations

from pathlib import Path

from penstock.columns.functions.function import Role
from penstock.columns.functions.registry import FUNCTIONS, NO_FUNCTIONS, builtin, sql_names

NAMES = (Path(__file__).parent / "flink-2.3-functions.txt").read_text().split()


def test_flinks_list_is_covered() -> None:
    assert len(NAMES) > 240
    assert [name for name in NAMES if builtin(name) is None and name not in NO_FUNCTIONS] == []
    assert [name for name in NO_FUNCTIONS if builtin(name) is not None or name not in NAMES] == []


def test_names_are_unique() -> None:
    names = [function.name for function in FUNCTIONS]
    assert len(names) == len(set(names))
    assert len(sql_names()) == sum(len(function.sql) for function in FUNCTIONS)


def test_a_function_has_a_kernel_or_a_reason() -> None:
    assert [
        function.name
        for function in FUNCTIONS
        if function.kernel is None
        and function.missing is None
        and function.role not in (Role.LAZY, Role.AGGREGATE, Role.OVER)
    ] == []


def test_names_of_sql_have_no_case() -> None:
    assert builtin("upper") is builtin("UPPER") is builtin("Upper")
    assert builtin("no such function") is None
