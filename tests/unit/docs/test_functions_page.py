"""The page about functions is that of the registry."""

from __future__ import annotations

from tests.unit.docs.functions_page import PAGE, functions_page


def test_the_page_about_functions_is_up_to_date() -> None:
    assert PAGE.exists() and PAGE.read_text(encoding="utf-8") == functions_page(), (
        "docs/sql-functions.md is out of date: run .venv/bin/python -m tests.unit.docs.functions_page"
    )
