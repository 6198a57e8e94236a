"""Lines of a user's program are shown in messages; what they log in with is not."""

from __future__ import annotations

import re

_HINT = re.compile(
    r"passw|passphrase|secret|credential|jaas|api_?key|access_?token|bearer|://[^/\s'\"]*:[^/\s'\"]*@", re.IGNORECASE
)
_LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")


def without_credentials(line: str) -> str:
    """A line that mentions a password, or an address with one, keeps its code and loses its texts."""
    return _LITERAL.sub('"*****"', line) if _HINT.search(line) else line
