"""Builds the web page from `web/` into the package, and notes there which sources it was built from."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "web"
PAGE = ROOT / "src" / "penstock" / "rest" / "page"
STAMP = PAGE / "sources.sha256"


def sources_hash() -> str:
    """Of all names and contents below `web/`, without what npm puts there."""
    digest = hashlib.sha256()
    for path in sorted(path for path in SOURCES.rglob("*") if path.is_file() and "node_modules" not in path.parts):
        digest.update(f"{path.relative_to(SOURCES).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def main() -> int:
    if shutil.which("npm") is None:
        print("No npm on this machine: install Node.js 20 or newer. Only who changes web/ needs it.")
        return 1
    # Not `npm ci`: it refuses a lock file without the compilers of every other platform.
    for command in (["npm", "install", "--no-save", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
        code = subprocess.run(command, cwd=SOURCES, stdin=subprocess.DEVNULL).returncode
        if code != 0:
            return code
    STAMP.write_text(f"{sources_hash()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
