"""A worker that does not see the job's directory says so before anything is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common.errors import SetupError
from penstock.runtime.blueprint import JobBlueprint, JobSettings
from penstock.runtime.container import Container


def container(home: Path) -> Container:
    settings = JobSettings("0" * 32, "test", home=str(home))
    return Container(JobBlueprint(settings, (), (), levels=1, parallelism=1), 0, 0)


def test_a_home_that_is_not_shared_fails_the_first_epoch(tmp_path: Path) -> None:
    container(tmp_path).open()
    with pytest.raises(SetupError, match="does not see the job's directory.*penstock.home"):
        container(tmp_path / "elsewhere").open()
