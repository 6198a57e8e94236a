"""The generated pages are those of the endpoints."""

from __future__ import annotations

from tests.unit.docs import rest_page


def test_the_page_and_the_openapi_document_are_up_to_date() -> None:
    assert rest_page.PAGE.read_text() == rest_page.rest_page(), "run .venv/bin/python -m tests.unit.docs.rest_page"
    assert rest_page.DOCUMENT.read_text() == rest_page.document()
