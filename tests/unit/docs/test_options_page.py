"""The page about options is that of the registry."""

from __future__ import annotations

from tests.unit.docs.options_page import PAGE, options_page

from penstock.common.options import OPTIONS


def test_the_page_about_options_is_up_to_date() -> None:
    assert PAGE.exists() and PAGE.read_text(encoding="utf-8") == options_page(), (
        "docs/options.md is out of date: run .venv/bin/python -m tests.unit.docs.options_page"
    )


def test_every_option_is_described_once() -> None:
    keys = [option.key for option in OPTIONS]
    assert len(keys) == len(set(keys))
    assert [
        option.key for option in OPTIONS if not (option.description.endswith(".") and "|" not in option.description)
    ] == []
