"""A worker that does not see the job's directory says so before anything is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common.errors import SetupError
from penstock.runtime.hosting import check_home


def test_a_home_that_is_not_shared_is_refused(tmp_path: Path) -> None:
    (tmp_path / "job.json").touch()
    check_home(str(tmp_path))
    elsewhere = tmp_path / "elsewhere"
    with pytest.raises(SetupError, match="does not see the job's directory.*penstock.home"):
        check_home(str(elsewhere))
    (elsewhere / "run-1" / "spark").mkdir(parents=True)  # as Spark has made it on this machine
    with pytest.raises(SetupError, match="does not see"):
        check_home(str(elsewhere))
