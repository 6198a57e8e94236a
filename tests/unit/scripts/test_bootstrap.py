from __future__ import annotations

import ast
import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "bootstrap.py"


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, pointed at a checkout of its own."""
    spec = importlib.util.spec_from_file_location("bootstrap", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shutil.copytree(SCRIPT.parents[1] / "requirements", tmp_path / "requirements")
    shutil.copy(SCRIPT.parents[1] / "pyproject.toml", tmp_path)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "REQUIREMENTS", tmp_path / "requirements")
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "VENV_PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp")
    return module


def test_old_python_can_read_it_far_enough_to_complain() -> None:
    source = SCRIPT.read_text()
    ast.parse(source, feature_version=(3, 6))
    assert "from __future__ import annotations" not in source  # Python 3.6 refuses it
    assert source.index("leave_old_python()\n\nimport hashlib") > 0  # the check runs before anything newer


@pytest.mark.parametrize("name", ["requirements/dev.lock", "requirements/java.lock", "pyproject.toml"])
def test_packages_are_installed_again_when_what_decides_them_changes(
    bootstrap: ModuleType, tmp_path: Path, name: str
) -> None:
    before = bootstrap.fingerprint()
    assert bootstrap.fingerprint() == before
    with (tmp_path / name).open("a") as file:
        file.write("# changed\n")
    assert bootstrap.fingerprint() != before


def test_second_run_installs_nothing(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    bootstrap.VENV.mkdir()
    monkeypatch.setattr(bootstrap, "venv_works", lambda: True)
    monkeypatch.setattr(bootstrap, "install_packages", lambda: calls.append("install"))
    monkeypatch.setattr(bootstrap, "provide_java", lambda: calls.append("java"))
    monkeypatch.setattr(bootstrap, "compile_sources", lambda: calls.append("compile"))
    bootstrap.main()
    bootstrap.main()
    assert calls == ["install", "java", "compile", "java", "compile"]


def test_failed_installation_is_tried_again(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("no network")

    bootstrap.VENV.mkdir()
    monkeypatch.setattr(bootstrap, "venv_works", lambda: True)
    monkeypatch.setattr(bootstrap, "install_packages", fail)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no network"):
            bootstrap.main()


def test_python_without_venv_is_told_what_to_install(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else 1)
    with pytest.raises(SystemExit, match=r"no module ensurepip.*\n.*apt install python3\.\d+-venv"):
        bootstrap.create_venv()


def test_environment_whose_interpreter_is_gone_is_made_anew(bootstrap: ModuleType) -> None:
    bootstrap.VENV_PYTHON.parent.mkdir(parents=True)
    bootstrap.VENV_PYTHON.symlink_to("/nowhere/python3")
    assert not bootstrap.venv_works()


def test_every_lock_file_pins_exactly() -> None:
    lines = [
        line
        for lock in (SCRIPT.parents[1] / "requirements").glob("*.lock")
        for line in lock.read_text().splitlines()
        if line and not line.startswith(("#", "-r "))
    ]
    assert len(lines) > 30
    assert [line for line in lines if "==" not in line] == []
