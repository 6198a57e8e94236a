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


@pytest.mark.parametrize("arguments", [[], ["fly"]])
def test_unknown_or_no_verb_exits_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2


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
