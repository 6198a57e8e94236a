"""Runs the web application in a thread of this process, over HTTP or TLS."""

from __future__ import annotations

import errno
import socket
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.library_logs import only_warnings_of
from penstock.common.options import value_of
from penstock.common.readable import readable

if TYPE_CHECKING:
    from starlette.applications import Starlette

_BACKLOG = 128
_GRACE_SECONDS = 2


@dataclass(frozen=True)
class Listening:
    """Where a server listens; with a certificate it speaks TLS. Port 0 takes any."""

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None

    @staticmethod
    def of(configuration: Configuration) -> Listening:
        host, port = value_of(configuration, "rest.bind-address"), value_of(configuration, "rest.port")
        if not value_of(configuration, "security.ssl.rest.enabled"):
            return Listening(host, port)
        certificate, key = (value_of(configuration, f"penstock.rest.{name}") for name in ("certificate", "key"))
        if certificate is None or key is None:
            raise ConfigurationError("TLS needs penstock.rest.certificate and penstock.rest.key: two files in PEM")
        listening = Listening(host, port, Path(certificate).absolute(), Path(key).absolute())
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password="")
        except OSError as error:  # so is a file that is no certificate
            raise ConfigurationError(f"{certificate} and {key} are no certificate and its key ({error})") from None
        return listening


class WebServer:
    """Listens at once, answers as soon as `app` is served, until it is closed."""

    def __init__(self, listening: Listening, name: str) -> None:
        self._listening = listening
        self._socket = _bound(listening)
        self.host, self.port = listening.host, self._socket.getsockname()[1]
        self.url = f"{'http' if listening.certificate is None else 'https'}://{_in_url(listening.host)}:{self.port}"
        self._name = name
        self._server: object | None = None
        self._closing = False
        self._thread: threading.Thread | None = None
        self._alarm, self._bell = socket.socketpair()

    def wait_for_client(self) -> bool:
        """Until somebody knocks; False if nobody has when the server is told to stop waiting."""
        readable(self._socket, self._alarm)
        return not self._closing

    def stop_waiting(self) -> None:
        self._closing = True
        self._bell.send(b"!")

    def serve(self, app: Starlette) -> None:
        """Returns at once."""
        import uvicorn

        only_warnings_of("uvicorn")
        config = uvicorn.Config(
            app,
            log_config=None,  # the job's terminal belongs to the program
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            h11_max_incomplete_event_size=64 << 10,
            server_header=False,
            ssl_certfile=self._listening.certificate,
            ssl_keyfile=self._listening.key,
        )
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        self._server = server
        self._thread = threading.Thread(
            target=server.run, kwargs={"sockets": [self._socket]}, name=self._name, daemon=True
        )
        if self._closing:
            return
        self._thread.start()

    def close(self) -> None:
        self._closing = True
        if self._server is not None:
            self._server.should_exit = True  # type: ignore[attr-defined]
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(2 * _GRACE_SECONDS)
        for end in (self._socket, self._alarm, self._bell):
            end.close()


def _bound(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listening.host, listening.port))
    except OverflowError:
        bound.close()
        raise ConfigurationError(f"rest.port is a number from 0 to 65535, not {listening.port}") from None
    except OSError as error:
        bound.close()
        taken = "another process uses the port: choose one with rest.port"
        hint = taken if error.errno == errno.EADDRINUSE else "rest.bind-address is to be an address of this machine"
        raise ConfigurationError(
            f"cannot listen on {listening.host}:{listening.port} ({error.strerror}); {hint}"
        ) from None
    bound.listen(_BACKLOG)
    return bound


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
