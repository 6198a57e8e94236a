"""What the page shows and does, in a real browser, with a manager that says what a test wants."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.web.fake.answers import JOB, JobAnswers, Operator, cluster, many_operators
from tests.web.fake.manager import TOKEN, Answers, FakeManager

StartManager = Callable[[Answers], FakeManager]
Open = Callable[..., Page]
RESTARTING = "a1" * 16

SEVERAL = cluster(
    JobAnswers(),
    JobAnswers("Sessions", "RESTARTING", RESTARTING, restarts=3),
    JobAnswers("Fraud", "CREATED", "b2" * 16),
    JobAnswers("Import of the very long archive of the year before last", "FAILED", "d4" * 16, restarts=2),
)
# Each with something that it shows once its answers have come.
PLACES = {
    "/jobs": "Fraud",
    "/submit": "Start from a savepoint",
    "/state": "No savepoint is open",
    "/state?path=/s": "views",
    "/cluster/workers": "process 16326 on worker-a",
    "/cluster/configuration": "execution.checkpointing.savepoint-dir",
    "/cluster/environment": "CPython 3.11.7",
    "/cluster/log": "epoch 179 is complete",
    f"/jobs/{JOB}/graph": "count views by app and minute",
    f"/jobs/{JOB}?operator=count": "Records per second",
    f"/jobs/{JOB}?operator=count&part=subtasks": "worker-1",
    f"/jobs/{JOB}?operator=count&part=watermarks": "Behind the first",
    f"/jobs/{JOB}?operator=count&part=metrics": "currentInputWatermark",
    f"/jobs/{JOB}?operator=count&part=code": "process_element (page_views.py:41)",
    f"/jobs/{JOB}?operator=count&part=keys": "'app-17'",
    f"/jobs/{JOB}/metrics": "Duration of an epoch",
    f"/jobs/{JOB}/checkpoints": "restored from",
    f"/jobs/{JOB}/exceptions": "Nothing has failed",
    f"/jobs/{JOB}/attempts": "the beginning",
    f"/jobs/{JOB}/state?uid=count&state=views": "app-3",
    f"/jobs/{JOB}/configuration": "Global job parameters",
    f"/jobs/{JOB}/log": "epoch 179 is complete",
    f"/jobs/{RESTARTING}/exceptions": "invalid literal for int()",
}


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_no_page_is_wider_than_the_screen_and_all_controls_have_names(
    manager: StartManager, open_page: Open, width: int, theme: str
) -> None:
    page = open_page(manager(SEVERAL).url, width=width, theme=theme)
    for place, text in PLACES.items():
        page.evaluate("place => location.hash = place", place)
        expect(page.locator("main")).to_contain_text(text)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        assert page.evaluate(_NAMELESS) == [], place


_NAMELESS = """() => [...document.querySelectorAll("button, a, input, select, [role=button]")]
    .filter(e => !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length || e.title))
    .map(e => e.outerHTML)"""


def test_the_token_is_asked_for_and_kept_out_of_the_address(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(SEVERAL).url, token=None)
    page.get_by_label("Token").last.fill("another")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_contain_text("not the manager's token")
    page.get_by_label("Token").last.fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Sessions")).to_be_visible()

    given = open_page(manager(SEVERAL).url)
    expect(given.get_by_role("link", name="Sessions")).to_be_visible()
    assert TOKEN not in given.url


def test_an_empty_cluster_says_what_to_do(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(cluster()).url)
    expect(page.get_by_text("This cluster has not run a job yet")).to_be_visible()
    expect(page.get_by_text("penstock run -d my_job.py")).to_be_visible()


def test_jobs_sort_and_open_by_keyboard(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(SEVERAL).url)
    running = page.get_by_role("table", name="Running jobs")
    expect(running.get_by_text("4 are needed, 2 are free")).to_be_visible()
    running.get_by_role("button", name="Restarts").press("Enter")
    expect(running.locator("tbody tr").first).to_contain_text("Sessions")
    running.get_by_role("link", name="Sessions").press("Enter")
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()


def test_two_hundred_operators_are_drawn_apart_and_found(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(cluster(JobAnswers(operators=many_operators()))).url, f"/jobs/{JOB}")
    operators = page.locator("[data-operator]")
    expect(operators).to_have_count(200)
    places = page.evaluate(
        "() => [...document.querySelectorAll('.graph .box')].map(e => e.getBoundingClientRect().toJSON())"
    )
    assert not any(_overlap(one, other) for i, one in enumerate(places) for other in places[:i])
    page.get_by_label("Find an operator").fill("aggregate events of region 28")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="aggregate events of region 28")).to_be_visible()
    expect(page.locator("[data-operator=o143]")).to_be_in_viewport()


def test_the_graph_is_walked_by_arrow_keys(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(SEVERAL).url, f"/jobs/{JOB}")
    page.locator("[data-operator=views]").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("region", name="Operator count views by app and minute")).to_be_visible()
    expect(page.get_by_text("is busy 98 % of the time and slows down parse")).to_be_visible()


def test_a_restarting_job_says_why_and_where(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(SEVERAL).url, f"/jobs/{RESTARTING}")
    expect(page.get_by_text("Attempt 2 ended: ValueError: invalid literal")).to_be_visible()
    page.get_by_role("link", name="Exceptions").click()
    newest = page.get_by_role("region", name="ValueError").first
    expect(newest).to_contain_text("parse (3/4) · attempt 2")
    expect(newest).to_contain_text("page_views.py:41")
    expect(newest.locator(".own")).to_contain_text("in process_element")
    page.get_by_role("link", name="Attempts").click()
    expect(page.locator(".timeline .attempt")).to_have_count(3)


def test_the_graph_of_an_ended_job_says_how_much_went_through(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(cluster(JobAnswers(state="FINISHED"))).url, f"/jobs/{JOB}")
    expect(page.locator("[data-operator=count]")).to_contain_text("×4 · 9.41M records")
    expect(page.locator(".stats").first).not_to_contain_text("in all")


def test_a_checkpoint_is_told_by_task(manager: StartManager, open_page: Open) -> None:
    answers = cluster(JobAnswers())
    of_one = answers[f"/jobs/{JOB}/checkpoints/details/41"]()
    saved = of_one["tasks"]["count"]
    answers[f"/jobs/{JOB}/checkpoints/details/41"] = {**of_one, "tasks": dict.fromkeys(("late", "late-sink"), saved)}
    page = open_page(manager(answers).url, f"/jobs/{JOB}/checkpoints")
    page.get_by_role("table", name="Checkpoints").locator("tbody tr").filter(has_text=re.compile(r"^41 ?[CS]")).click()
    expect(page.get_by_role("table", name="By task").locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("table", name="By task")).to_contain_text("late views → Sink: late")


def test_attempts_that_nobody_keeps_any_more_are_counted(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(cluster(JobAnswers(restarts=5, kept=3))).url, f"/jobs/{JOB}/attempts")
    attempts = page.get_by_role("region", name="Attempts")
    expect(attempts).to_contain_text("the last 3 of 6")
    newest = attempts.locator("tbody tr").first
    expect(newest).to_contain_text("Running")
    expect(newest).not_to_contain_text("–")  # how long it has been running
    page.get_by_role("link", name="Exceptions 5").click()
    expect(page.get_by_text("Earlier ones are not kept")).to_be_visible()


def test_a_worker_is_listed_with_the_name_of_its_job(manager: StartManager, open_page: Open) -> None:
    answers = cluster(JobAnswers())
    answers["/taskmanagers"]["taskmanagers"][0]["penstock"] = {"job": JOB}
    page = open_page(manager(answers).url, "/cluster")
    page.get_by_role("table", name="Workers").get_by_role("link", name="Page views per app").first.click()
    expect(page.get_by_role("heading", name="Page views per app")).to_be_visible()


def test_a_manager_that_goes_away_is_found_again(manager: StartManager, open_page: Open) -> None:
    answers: dict[str, Any] = dict(SEVERAL)
    fake = manager(answers)
    page = open_page(fake.url)
    expect(page.get_by_role("link", name="Sessions")).to_be_visible()
    fake.stop()
    expect(page.get_by_role("alert")).to_contain_text("The manager does not answer")
    expect(page.get_by_role("link", name="Sessions")).to_be_visible()
    answers["/jobs/overview"] = {"jobs": [JobAnswers("Started meanwhile").summary()]}
    fake.start()
    page.get_by_role("button", name="Try now").click()
    expect(page.get_by_role("link", name="Started meanwhile")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_that_the_manager_is_away_is_seen_wherever_one_reads(manager: StartManager, open_page: Open) -> None:
    fake = manager(SEVERAL)
    page = open_page(fake.url, f"/jobs/{JOB}/metrics", width=390)
    expect(page.get_by_role("table", name="Epochs")).to_be_visible()
    page.evaluate("scrollTo(0, 2000)")
    fake.stop()
    expect(page.get_by_role("alert")).to_be_in_viewport()


def test_nothing_is_done_to_a_job_without_confirmation(manager: StartManager, open_page: Open) -> None:
    fake = manager(SEVERAL)
    page = open_page(fake.url, f"/jobs/{JOB}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog", name="Cancel the job")).to_contain_text("Page views per app ends at once")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert fake.asked == []
    page.get_by_role("button", name="Savepoint", exact=True).click()
    page.get_by_label("Directory").fill("/savepoints")
    page.get_by_role("button", name="Take savepoint").click()
    expect(page.get_by_role("status").last).to_contain_text("/savepoints/savepoint-3f6c1a-9be04d4d3a8c")
    [(method, target, body)] = fake.asked
    assert (method, target) == ("POST", f"/jobs/{JOB}/savepoints")
    assert json.loads(body) == {"target-directory": "/savepoints", "cancel-job": False}


def test_a_rescaled_job_says_which_parallelism_it_has_then(manager: StartManager, open_page: Open) -> None:
    done = {"status": {"id": "COMPLETED"}, "operation": {"location": "/s/savepoint-1"}}
    answers = {f"PATCH /jobs/{JOB}/rescaling": {"request-id": "r1"}, f"/jobs/{JOB}/rescaling/r1": done}
    page = open_page(manager({**SEVERAL, **answers}).url, f"/jobs/{JOB}")
    for wanted, said in (("4", "runs with a parallelism of 4"), ("2", "a parallelism of 4, which its program sets")):
        page.get_by_role("button", name="Rescale").click()
        page.get_by_role("spinbutton", name="Parallelism").fill(wanted)
        page.get_by_role("dialog").get_by_role("button", name="Rescale").click()
        expect(page.get_by_role("status").last).to_contain_text(said)


def test_a_cancelled_job_is_said_to_be_so_when_it_is(manager: StartManager, open_page: Open) -> None:
    status = {"status": "CANCELLING"}
    page = open_page(manager({**SEVERAL, f"/jobs/{JOB}/status": lambda: status}).url, f"/jobs/{JOB}")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel job").click()
    expect(page.get_by_role("button", name="Working")).to_be_visible()
    status["status"] = "CANCELED"
    expect(page.get_by_role("status").last).to_contain_text("has been cancelled")


def test_a_job_that_waits_offers_only_what_can_be_done(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(SEVERAL).url, f"/jobs/{'b2' * 16}")
    expect(page.get_by_role("button", name="Cancel")).to_be_enabled()
    expect(page.get_by_role("button", name="Rescale")).to_be_enabled()
    expect(page.get_by_role("button", name="Savepoint", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Stop")).to_be_disabled()


def test_a_program_that_failed_at_once_leads_to_its_log_and_its_exception(
    manager: StartManager, open_page: Open
) -> None:
    failed = JobAnswers("views.py", "FAILED", "c3" * 16, operators=())
    page = open_page(manager(cluster(failed)).url, f"/jobs/{failed.id}")
    expect(page.get_by_text("The program ended before it had a graph")).to_be_visible()
    expect(page.get_by_role("link", name="Exceptions 1")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="log", exact=True).click()
    expect(page.get_by_role("heading", name="Log")).to_be_visible()


def test_the_only_state_is_open_and_a_bar_stays_in_its_box(manager: StartManager, open_page: Open) -> None:
    both = Operator("both", "parse", "parse", (), 0.7, 0.9)
    page = open_page(manager(cluster(JobAnswers(operators=(both,)))).url, f"/jobs/{JOB}")
    expect(page.locator("[data-operator=both]")).to_be_visible()
    box, bar = (page.locator(f"[data-operator=both] {part}") for part in (".ground", "rect[fill='var(--pressed)']"))
    right = [place["x"] + place["width"] for place in (box.bounding_box(), bar.bounding_box()) if place]
    assert right[1] <= right[0]
    page.evaluate("location.hash = '/state?path=/s'")
    expect(page.get_by_role("heading", name="views")).to_be_visible()


def test_the_tab_says_what_it_shows(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(SEVERAL).url)
    for place, title in {
        "/jobs": "Jobs – Penstock",
        f"/jobs/{JOB}": "Page views per app, running – Penstock",
        "/submit": "Submit – Penstock",
        "/cluster/log": "Cluster – Penstock",
        "/nowhere": "Penstock",
    }.items():
        page.evaluate("place => location.hash = place", place)
        expect(page).to_have_title(title)


def test_nothing_of_a_table_is_hidden_beside_the_panel_of_an_operator(manager: StartManager, open_page: Open) -> None:
    page = open_page(manager(SEVERAL).url, f"/jobs/{JOB}?operator=count")
    page.get_by_role("button", name="List").click()
    expect(page.get_by_role("table", name="Operators")).to_be_visible()
    assert page.evaluate(_CUT_OFF) == []


_CUT_OFF = """() => [...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth)
    .map(e => e.querySelector("caption").textContent)"""


def test_a_program_is_submitted_with_its_arguments(manager: StartManager, open_page: Open) -> None:
    fake = manager(SEVERAL)
    page = open_page(fake.url, "/submit")
    page.get_by_label("A Python file").set_input_files(
        {"name": "job.py", "mimeType": "text/x-python", "buffer": b"print(1)"}
    )
    page.get_by_label("Arguments").fill("--day '16 November' -v")
    page.get_by_label("Parallelism").fill("3")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Page views per app")).to_be_visible()
    [(method, target, body)] = fake.asked
    assert (method, target) == ("POST", "/penstock/v1/jobs")
    assert b'name="file"; filename="job.py"' in body and b'["--day","16 November","-v"]' in body
    assert b'name="savepoint"' not in body


def test_a_program_that_was_uploaded_is_started_again_or_removed(manager: StartManager, open_page: Open) -> None:
    fake = manager(SEVERAL)
    page = open_page(fake.url, "/submit")
    uploaded = page.get_by_role("table", name="Uploaded programs")
    uploaded.get_by_role("button", name="Use page_views.zip").click()
    page.get_by_role("button", name="Another file").click()
    expect(page.get_by_label("A Python file")).to_be_visible()
    uploaded.get_by_role("button", name="Use page_views.zip").click()
    page.get_by_label("Options").fill("parallelism.default: 2\nno option")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("This is no option: no option. Write key: value")
    page.get_by_label("Options").fill("parallelism.default: 2\n# slowly\na=b:c")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Page views per app")).to_be_visible()
    [(_, target, body)] = fake.asked
    assert target == "/penstock/v1/jobs" and b"5b0c_page_views.zip" in body and b'name="file"' not in body
    assert b'{"parallelism.default":"2","a":"b:c"}' in body

    page.get_by_role("link", name="Submit").click()
    uploaded.get_by_role("button", name="Remove page_views.zip").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert fake.asked[-1][:2] == ("DELETE", "/jars/5b0c_page_views.zip")


def test_a_state_is_looked_up_by_key(manager: StartManager, open_page: Open) -> None:
    one = {
        "epoch": 412,
        "uid": "count",
        "state": "views",
        "entries": [{"key": "app-3", "value": 7}],
        "truncated": False,
    }
    own = f"/penstock/v1/jobs/{JOB}/state/count/views?limit=200&key=%22app-3%22"
    page = open_page(manager({**SEVERAL, own: one}).url, f"/jobs/{JOB}/state")
    page.get_by_role("link", name="views value, 1.2k").click()
    entries = page.get_by_role("table", name="Entries of views")
    expect(entries.locator("tbody tr")).to_have_count(12)
    page.get_by_label("Key", exact=True).fill("app-3")
    page.keyboard.press("Enter")
    expect(entries.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_text("As of epoch 412")).to_be_visible()


def _overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return (
        one["left"] < other["right"]
        and other["left"] < one["right"]
        and one["top"] < other["bottom"]
        and other["top"] < one["bottom"]
    )
