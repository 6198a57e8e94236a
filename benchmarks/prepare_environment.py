"""Sets up what only the benchmark needs: an environment with PyFlink, which conflicts with ours, and DuckDB."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks import settings


def main() -> None:
    home = settings.flink_environment()
    if not _has_flink(home):
        if home != settings.ROOT / ".venv-flink":
            sys.exit(f"{settings.FLINK_HOME_VARIABLE} is {home}, which has no {settings.FLINK_REQUIREMENT}")
        _say(f"installing {settings.FLINK_REQUIREMENT} into .venv-flink (some minutes, a download of about 500 MB)")
        shutil.rmtree(home, ignore_errors=True)
        _run([_python_for_flink(), "-m", "venv", str(home)])
        # Some of what it needs has no wheel and is built with a setuptools that still has pkg_resources.
        _pip(home / "bin" / "python", "setuptools<81", "wheel")
        _pip(home / "bin" / "python", settings.FLINK_REQUIREMENT)
    if not (settings.PACKAGES / "duckdb").is_dir():
        _say(f"installing {settings.DUCKDB_REQUIREMENT} into benchmarks/.packages")
        _pip(Path(sys.executable), "--no-deps", "--target", str(settings.PACKAGES), settings.DUCKDB_REQUIREMENT)


def _has_flink(home: Path) -> bool:
    version = settings.FLINK_REQUIREMENT.partition("==")[2]
    return any(home.glob(f"lib/python3*/site-packages/apache_flink-{version}.dist-info"))


def _python_for_flink() -> str:
    """PyFlink 2.3 has no wheels for the newest Pythons."""
    return next((found for name in ("python3.11", "python3.12") if (found := shutil.which(name))), sys.executable)


def _pip(python: Path, *arguments: str) -> None:
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments])


def _run(command: list[str]) -> None:
    if subprocess.run(command, stdin=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"bench: this command failed, its messages are above: {' '.join(command)}")


def _say(message: str) -> None:
    print(f"bench: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
