"""A program imports what its requirements name, also where nobody has installed it."""

from __future__ import annotations

import importlib
import sys
import zipfile
from pathlib import Path

import pytest

from penstock.cli.program_packages import make_importable
from penstock.common.errors import SetupError


def wheel(directory: Path, name: str) -> None:
    """The smallest that pip takes."""
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(directory / f"{name}-1.0-py3-none-any.whl", "w") as target:
        target.writestr(f"{name}.py", "answer = 42\n")
        target.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        target.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        target.writestr(f"{about}/RECORD", "")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_packages_are_installed_once_and_can_be_imported(tmp_path: Path) -> None:
    wheel(tmp_path, "penstock_test_package")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("penstock_test_package==1.0\n")
    make_importable({"python.requirements": f"{requirements}#{tmp_path}"})
    importlib.invalidate_caches()
    assert importlib.import_module("penstock_test_package").answer == 42
    [installed] = (tmp_path / "home" / "packages").iterdir()

    (tmp_path / "penstock_test_package-1.0-py3-none-any.whl").unlink()
    make_importable({"python.requirements": f"{requirements}#{tmp_path}"})
    assert [*(tmp_path / "home" / "packages").iterdir()] == [installed]


def test_what_cannot_be_installed_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("penstock_there_is_no_such_package\n")
    with pytest.raises(SetupError, match="penstock_there_is_no_such_package"):
        make_importable({"python.requirements": f"{requirements}#{tmp_path}"})
    assert [*(tmp_path / "home" / "packages").iterdir()] == []
    with pytest.raises(SetupError, match="cannot be read"):
        make_importable({"python.requirements": str(tmp_path / "missing.txt")})


def test_without_requirements_nothing_happens() -> None:
    before = list(sys.path)
    make_importable({})
    assert sys.path == before
