"""Where programs are PyFlink's, every error that Penstock raises on purpose is what they catch there, too."""

from __future__ import annotations

import pickle

import pytest
from py4j.protocol import Py4JJavaError

from penstock.common import java_error
from penstock.common.errors import ConfigurationError, JobExecutionError, PenstockError, ProgramError, SetupError
from penstock.table.sql.errors import SqlValidationError

KINDS = (ConfigurationError, JobExecutionError, ProgramError, SetupError, SqlValidationError)


@pytest.fixture
def of_pyflink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_error, "_wanted", True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("of_pyflink")
def test_an_error_is_one_of_java_and_still_its_own(kind: type[PenstockError]) -> None:
    with pytest.raises(Py4JJavaError) as caught:
        raise kind("what happened")
    error = caught.value
    assert isinstance(error, kind) and type(error).__name__ == kind.__name__
    assert str(error) == "what happened" == error.java_exception.getMessage()
    assert error.java_exception.toString() == f"{kind.__name__}: what happened"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("of_pyflink")
def test_it_travels_between_processes(kind: type[PenstockError]) -> None:
    error = kind("what happened")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and vars(again) == vars(error)


def test_other_programs_get_errors_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_error, "_wanted", False)
    assert not isinstance(ProgramError("what happened"), Py4JJavaError)
