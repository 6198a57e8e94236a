"""The manager with its REST interface and web page, in this process."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from penstock.client.access import RestAccess, remove_access, write_access
from penstock.client.jobs import MANAGER_DIRECTORY
from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.options import value_of
from penstock.manager.manager import Manager
from penstock.rest.app import Access, make_app
from penstock.rest.server import Listening, WebServer

_SLOTS_PER_CORE = 2


class ManagerService:
    """Listens from its making on; run() lasts until stop()."""

    def __init__(self, home: Path, configuration: Configuration, log: Path) -> None:
        slots = value_of(configuration, "penstock.cluster.slots")
        if slots is None:
            slots = _SLOTS_PER_CORE * (os.cpu_count() or 1)
        if slots < 1:
            raise ConfigurationError(f"penstock.cluster.slots is at least 1, not {slots}: without one no job could run")
        self.manager = Manager(home, slots, configuration.to_dict(), log)
        self._directory = home / MANAGER_DIRECTORY
        listening = Listening.of(configuration)
        self._server = WebServer(listening, "penstock-manager-rest")
        token = _token(self._directory) if value_of(configuration, "penstock.rest.token") else ""
        largest = value_of(configuration, "rest.server.max-content-length")
        self._server.serve(make_app(self.manager, Access(token or None, largest)))
        certificate = None if listening.certificate is None else str(listening.certificate)
        self._access = RestAccess(self._server.url, token, os.getpid(), certificate)
        write_access(self._directory, self._access)

    @property
    def url(self) -> str:
        return self._server.url

    def run(self) -> None:
        try:
            self.manager.run()
        finally:
            remove_access(self._directory, self._access)
            self._server.close()

    def stop(self) -> None:
        self.manager.stopping.set()


def _token(directory: Path) -> str:
    """The same for all managers of a home, so that an open web page finds the next one."""
    file = directory / "token"
    if not file.exists():
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w") as target:
            target.write(secrets.token_urlsafe(32))
    return file.read_text().strip()
