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
PYTEST = [str(BIN / "python"), "-m", "pytest"]
# A test that hangs fails by its name and with the stacks of its threads, instead of holding up all others.
LIMIT = ["--timeout", "600"]
# Side by side, files as a whole: tests on Spark share a session, and much of their time is waiting for processes.
TESTS: dict[str, list[str]] = {
    "pytest": [*PYTEST, *LIMIT, "-n", "2", "--dist", "loadfile", "-m", "not spark and not crash"],
    "pytest on Spark": [*PYTEST, *LIMIT, "-n", "2", "--dist", "loadfile", "-m", "spark or crash"],
}
NO_TESTS = 5  # what pytest returns when it has found none to run


def main(what: str, extra: list[str]) -> int:
    checks = LINT if what == "lint" else {**LINT, **(TESTS if "-m" not in extra else {"pytest": PYTEST})}
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
    if name in LINT:
        return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode == 0
    code = subprocess.run([*command, *extra], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
    return code == 0 or (code == NO_TESTS and bool(extra))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
