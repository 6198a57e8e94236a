"""A certificate that a test makes for itself."""

from __future__ import annotations

import subprocess
from pathlib import Path


def own_certificate(directory: Path) -> dict[str, str]:
    """The options of a server that speaks TLS with it; it is for the address 127.0.0.1."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    made_for = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *made_for]
        + ["-out", str(certificate), "-keyout", str(key)],
        check=True,
        capture_output=True,
    )
    return {
        "security.ssl.rest.enabled": "true",
        "penstock.rest.certificate": str(certificate),
        "penstock.rest.key": str(key),
    }
