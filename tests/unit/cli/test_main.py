from __future__ import annotations

import subprocess
import sys

import pytest

from penstock import __version__
from penstock.cli.main import VERBS, main


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"penstock {__version__}\n"


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = " ".join(capsys.readouterr().out.split())  # long lines are broken
    for verb in VERBS:
        assert (f"{verb.name} " in printed and verb.summary in printed) != verb.hidden, verb.name


def test_an_unknown_verb_exits_with_2() -> None:
    with pytest.raises(SystemExit) as left:
        main(["fly"])
    assert left.value.code == 2


def test_without_a_verb_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "take a savepoint and end a job in order" in capsys.readouterr().err


@pytest.mark.parametrize(("typed", "meant"), [(["lst"], "list"), (["cluster", "strat"], "start")])
def test_a_verb_that_is_mistyped_leads_to_the_right_one(
    typed: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(typed)
    assert f"there is no '{typed[-1]}': did you mean '{meant}'?" in capsys.readouterr().err


def test_an_argument_too_many_is_answered_with_what_the_verb_takes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["stop", "0123", "/savepoints"])
    printed = capsys.readouterr().err
    assert "usage: penstock stop" in printed and "-p DIR" in printed
    assert "penstock stop: error: unrecognized arguments: /savepoints" in printed


def test_messages_name_only_what_people_may_give(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["fly"], ["run"]):
        with pytest.raises(SystemExit):
            main(arguments)
    wrong_verb, no_script = (line for line in capsys.readouterr().err.splitlines() if "error:" in line)
    assert "'history'" in wrong_verb and "drive" not in wrong_verb
    assert no_script.endswith("required: script.py")


def test_starts_without_loading_spark() -> None:
    program = "import sys, penstock.cli.main; print({'pyspark', 'pandas', 'pyarrow'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "set()\n"
