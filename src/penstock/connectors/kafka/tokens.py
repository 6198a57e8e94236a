"""Tokens for the login OAUTHBEARER, from where librdkafka's settings say that they come."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple

_KEPT_SHARE = 0.8  # of a token's life: then a new one is fetched
_LIFE_SECONDS = 3600
_EXTENSION = "extension_"


class NoToken(Exception):
    """These settings leave the token to librdkafka."""


class Token(NamedTuple):
    text: str
    extensions: Mapping[str, str]

    def first_message(self) -> bytes:
        """RFC 7628."""
        fields = {"auth": f"Bearer {self.text}", **self.extensions}
        return "\x01".join(("n,,", *(f"{key}={value}" for key, value in fields.items()), "", "")).encode()


def token_of(settings: Mapping[str, Any], seconds: float) -> Token:
    if str(settings.get("sasl.oauthbearer.method", "default")).lower() == "oidc":
        extensions = dict(_pairs(str(settings.get("sasl.oauthbearer.extensions", "")).split(",")))
        return Token(_KEPT.text(settings, seconds), extensions)
    if str(settings.get("enable.sasl.oauthbearer.unsecure.jwt", "false")).lower() == "true":
        return _unsecured(dict(_pairs(str(settings.get("sasl.oauthbearer.config", "")).split())))
    raise NoToken("the settings name no source of tokens")


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    return [(key, value) for key, found, value in (text.strip().partition("=") for text in texts) if found]


def _unsecured(config: Mapping[str, str]) -> Token:
    """Not signed: for brokers that are tried out."""
    now = int(time.time())
    claims: dict[str, Any] = {
        config.get("principalClaimName", "sub"): config.get("principal", ""),
        "iat": now,
        "exp": now + int(config.get("lifeSeconds", _LIFE_SECONDS)),
    }
    if "scope" in config:
        claims[config.get("scopeClaimName", "scope")] = config["scope"].split(",")
    said = {key.removeprefix(_EXTENSION): value for key, value in config.items() if key.startswith(_EXTENSION)}
    return Token(f"{_part({'alg': 'none'})}.{_part(claims)}.", said)


def _part(content: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


class _Kept:
    """Every connection needs a token; who gives them is not asked as often."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], tuple[str, float]] = {}
        self._lock = threading.Lock()

    def text(self, settings: Mapping[str, Any], seconds: float) -> str:
        if settings.get("sasl.oauthbearer.grant.type", "client_credentials") != "client_credentials":
            raise NoToken("tokens are fetched with the credentials of a client only")
        names = ("token.endpoint.url", "client.id", "client.secret", "scope")
        key = url, client, secret, scope = tuple(str(settings.get(f"sasl.oauthbearer.{name}", "")) for name in names)
        if not url:
            raise NoToken("sasl.oauthbearer.token.endpoint.url is not set")
        with self._lock:
            text, until = self._found.get(key, ("", 0.0))
            if time.monotonic() > until:
                text, life = _fetched(url, client, secret, scope, settings, seconds)
                self._found[key] = text, time.monotonic() + _KEPT_SHARE * life
            return text


_KEPT = _Kept()


def _fetched(
    url: str, client: str, secret: str, scope: str, settings: Mapping[str, Any], seconds: float
) -> tuple[str, float]:
    fields = {"grant_type": "client_credentials", **({"scope": scope} if scope else {})}
    login = base64.b64encode(f"{client}:{secret}".encode()).decode()
    asked = urllib.request.Request(
        url, urllib.parse.urlencode(fields).encode(), {"Authorization": f"Basic {login}", "Accept": "application/json"}
    )
    trusted = ssl.create_default_context(cafile=settings.get("https.ca.location"), cadata=settings.get("https.ca.pem"))
    with urllib.request.urlopen(asked, timeout=seconds, context=trusted) as answer:
        said = json.load(answer)
    if not isinstance(said, dict) or "access_token" not in said:
        raise ConnectionError(f"{url} answers without a token")
    return str(said["access_token"]), float(said.get("expires_in", 0))
