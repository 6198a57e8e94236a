"""Runs the checks and tests of `make test`, all of them even when one fails, and sums up at the end."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"

LINT: dict[str, list[str]] = {
    "ruff check": [str(BIN / "ruff"), "check", "."],
    "ruff format": [str(BIN / "ruff"), "format", "--check", "."],
    "mypy": [str(BIN / "mypy")],
    "import-linter": [str(BIN / "lint-imports")],
}
TESTS: dict[str, list[str]] = {"pytest": [str(BIN / "python"), "-m", "pytest"]}


def main(what: str, extra: list[str]) -> int:
    checks = LINT if what == "lint" else {**LINT, **TESTS}
    started = time.monotonic()
    failed = [name for name, command in checks.items() if not passes(name, command, extra)]
    took = f"{time.monotonic() - started:.0f} s"
    if failed:
        print(f"\nFAILED after {took}: {', '.join(failed)}")
        return 1
    print(f"\nOK: {', '.join(checks)} passed in {took}")
    return 0


def passes(name: str, command: list[str], extra: list[str]) -> bool:
    print(f"--- {name}", flush=True)
    if name in TESTS:
        command = [*command, *extra]
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
