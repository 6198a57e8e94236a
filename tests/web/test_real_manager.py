"""The page with a real manager and a real job on Spark: submitted, watched, saved and cancelled with the mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.manager.processes import ManagerProcess
from tests.patience import patience
from tests.web.conftest import Open

from penstock.client.access import read_access
from penstock.client.jobs import MANAGER_DIRECTORY

PROGRAM = Path(__file__).parent / "programs" / "views.py"


@pytest.fixture
def real_manager(tmp_path: Path) -> Iterator[ManagerProcess]:
    manager = ManagerProcess(tmp_path / "home")
    yield manager
    manager.stop()


@pytest.mark.spark
def test_a_job_from_its_submission_to_its_end(real_manager: ManagerProcess, open_page: Open, tmp_path: Path) -> None:
    real_manager.start()
    access = read_access(real_manager.home / MANAGER_DIRECTORY)
    assert access is not None
    page = open_page(f"{access.url}/", token=access.token)
    long = patience(60) * 1000
    expect(page.get_by_text("This cluster has not run a job yet")).to_be_visible()
    page.get_by_role("link", name="Submit a program").click()
    page.get_by_label("A Python file").set_input_files(PROGRAM)
    page.get_by_label("Arguments").fill(str(tmp_path / "failed"))
    page.get_by_label("Parallelism").fill("2")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="views by app")).to_be_visible(timeout=long)

    # It fails once, says where, and goes on from its last epoch.
    page.get_by_role("link", name="Exceptions 1").click(timeout=long)
    failure = page.get_by_role("region", name="ValueError")
    expect(failure).to_contain_text("the hundredth view is broken")
    expect(failure).to_contain_text("views.py")
    state = page.locator(".page-head .badge")
    expect(state).to_have_text("Running", timeout=long)
    page.get_by_role("link", name="Attempts").click()
    expect(page.get_by_role("table", name="Attempts").locator("tbody tr")).to_have_count(2, timeout=long)

    page.get_by_role("link", name="Graph").click()
    page.get_by_role("button", name="count, 2 parallel").press("Enter")
    panel = page.get_by_role("region", name="Operator count")
    panel.get_by_role("link", name="Subtasks").click()
    expect(panel.locator("tbody tr")).to_have_count(2)
    panel.get_by_role("link", name="Skew").click()
    expect(panel).to_contain_text("'app-1'", timeout=long)
    page.get_by_role("link", name="Metrics").first.click()
    expect(page.get_by_role("table", name="Epochs")).to_be_visible(timeout=long)

    page.get_by_role("button", name="Savepoint", exact=True).click()
    page.get_by_label("Directory").fill(str(tmp_path / "savepoints"))
    page.get_by_role("button", name="Take savepoint").click()
    expect(page.get_by_text("The savepoint is at")).to_be_visible(timeout=long)
    [savepoint] = (tmp_path / "savepoints").iterdir()
    expect(page.get_by_text(savepoint.name)).to_be_visible()

    page.get_by_role("link", name="State").last.click()
    page.get_by_role("link", name="total value").click()
    page.get_by_label("Key", exact=True).fill("app-1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("table", name="Entries of total").locator("tbody tr")).to_have_count(1)

    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel job").click()
    expect(state).to_have_text("Cancelled", timeout=long)
