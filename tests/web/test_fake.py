"""The fake manager says nothing that the real one could not say; it may leave out what the page does not read."""

from __future__ import annotations

import re

import pytest
from tests.web.fake.answers import JobAnswers, cluster, many_operators

from penstock.rest.api import ENDPOINTS
from penstock.rest.json_types import mistakes

ANSWERS = {
    **cluster(JobAnswers(restarts=2), JobAnswers(state="FAILED", id="f1", restarts=1)),
    **JobAnswers(state="CREATED", id="c1", operators=many_operators(2)).all(),
}


@pytest.mark.parametrize("path", ANSWERS)
def test_answers_have_fields_and_types_of_the_interface(path: str) -> None:
    method, _, target = path.rpartition(" ")
    wanted = (method or "GET", target)
    endpoint, *_ = [
        e for e in ENDPOINTS if e.method == wanted[0] and re.fullmatch(re.sub(r":\w+", "[^/]+", e.path), target)
    ]
    answer = ANSWERS[path]
    found = mistakes(answer() if callable(answer) else answer, endpoint.answer, "answer")
    assert [mistake for mistake in found if not mistake.endswith("is missing")] == []
