"""A real browser for all tests of the page. Whatever a test does, the page asks no other host and meets no error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from tests.patience import patience
from tests.services.chromium import chromium
from tests.web.fake.manager import TOKEN, Answers, FakeManager, fake_manager

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(executable), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def manager() -> Iterator[Callable[[Answers], FakeManager]]:
    """Starts a fake manager that gives these answers."""
    contexts = []

    def start(answers: Answers) -> FakeManager:
        context = fake_manager(lambda: answers)
        contexts.append(context)
        return context.__enter__()

    yield start
    for context in contexts:
        context.__exit__(None, None, None)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens an address of a manager; its token goes along unless a test wants none."""
    expect.set_options(timeout=patience(5) * 1000)
    contexts, problems = [], []

    def open_(
        url: str, place: str = "/jobs", width: int = 1280, theme: str = "light", token: str | None = TOKEN
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=theme)  # type: ignore[arg-type]
        contexts.append(context)
        context.set_default_timeout(patience(10) * 1000)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.extend(_complaint(message)))
        page.on("request", lambda request: problems.extend(_foreign(request.url, url)))
        separator = "&" if "?" in place else "?"
        page.goto(f"{url}#{place}" + ("" if token is None else f"{separator}token={token}"))
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


def _complaint(message: ConsoleMessage) -> list[str]:
    """That a request failed is for the page to show, and some tests make it fail."""
    expected = message.text.startswith("Failed to load resource")
    return [message.text] if message.type in ("error", "warning") and not expected else []


def _foreign(asked: str, manager: str) -> list[str]:
    own = urlsplit(asked).netloc == urlsplit(manager).netloc or asked.startswith("data:")
    return [] if own else [f"the page asked {asked}"]
