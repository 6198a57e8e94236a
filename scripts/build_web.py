"""Builds the web page from `web/` into the package, and notes there which sources it was built from."""

from __future__ import annotations

import hashlib
import json
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


def licences() -> str:
    """Of everything that the build contains, which is what `dependencies` names and what those need."""
    texts: dict[str, str] = {}
    waiting = [SOURCES]
    while waiting:
        needed = json.loads((waiting.pop() / "package.json").read_text()).get("dependencies", {})
        for name in sorted(needed.keys() - texts.keys()):
            package = SOURCES / "node_modules" / name
            [licence] = package.glob("LICENSE*")
            texts[name] = f"{name}\n{'-' * len(name)}\n{licence.read_text().strip()}\n"
            waiting.append(package)
    return "\n\n".join(texts[name] for name in sorted(texts))


def main() -> int:
    if shutil.which("npm") is None:
        print("No npm on this machine: install Node.js 20 or newer. Only who changes web/ needs it.")
        return 1
    # Not `npm ci`: it refuses a lock file without the compilers of every other platform.
    for command in (["npm", "install", "--no-save", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
        code = subprocess.run(command, cwd=SOURCES, stdin=subprocess.DEVNULL).returncode
        if code != 0:
            return code
    (PAGE / "licences.txt").write_text(licences())
    STAMP.write_text(f"{sources_hash()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
