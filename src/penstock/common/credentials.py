"""Lines of a user's program and settings are shown in messages and answers; what they log in with is not."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HIDDEN = "******"
# Flink's GlobalConfiguration has these.
_SENSITIVE = ("password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params", "service-key", "token",
              "basic-auth", "jaas.config", "http-headers")  # fmt: skip
_IN_ADDRESS = re.compile(r"(?<=://)([^/?#\s:@]*:)[^/?#\s]*(?=@)|([?&;][\w.-]*password=)[^&;\s]*", re.IGNORECASE)
_HINT = re.compile(
    r"passw|passphrase|secret|credential|jaas|api_?key|access_?token|bearer|://[^/\s'\"]*:[^/\s'\"]*@", re.IGNORECASE
)
_LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")


def without_credentials(line: str) -> str:
    """A line that mentions a password, or an address with one, keeps its code and loses its texts."""
    return _LITERAL.sub('"*****"', line) if mentions_credentials(line) else line


def mentions_credentials(text: str) -> bool:
    return _HINT.search(text) is not None


def shown_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """As people may see them, who are not always those who have set them."""
    return {key: _shown_value(key.lower(), value) for key, value in settings.items()}


def _shown_value(key: str, value: str) -> str:
    if any(part in key for part in _SENSITIVE):
        return _HIDDEN
    return _IN_ADDRESS.sub(lambda found: f"{found[1] or found[2]}{_HIDDEN}", value)
