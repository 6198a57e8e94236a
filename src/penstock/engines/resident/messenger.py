"""A task's second thread: makes snapshots durable, and then tells the driver. It also says that the process lives."""

from __future__ import annotations

import contextlib
import queue
import threading
import time

from penstock.engines.resident.driver_connection import DriverConnection
from penstock.engines.resident.frames import MESSAGE, Frame
from penstock.engines.resident.messages import Beat, Broken, FromTask, Reported
from penstock.engines.resident.state_files import StateFiles
from penstock.runtime.pickling import dumps


class Messenger:
    """All messages go through one queue; reports that have come together cost one fdatasync."""

    def __init__(self, control: DriverConnection, beat_seconds: float) -> None:
        self._control = control
        self._beat_seconds = beat_seconds
        self._queue: queue.SimpleQueue[tuple[FromTask | None, StateFiles | None]] = queue.SimpleQueue()
        self._step_began: float | None = None
        self._thread = threading.Thread(target=self._run, name="penstock-messenger", daemon=True)
        self._thread.start()

    def tell(self, message: FromTask, after: StateFiles | None = None) -> None:
        """Returns at once; the message goes out when what was written to the files is durable."""
        self._queue.put((message, after))

    def entering(self) -> None:
        """The main thread begins a step; nobody but its end says that it is not stuck."""
        self._step_began = time.monotonic()

    def leaving(self) -> None:
        self._step_began = None

    def close(self) -> None:
        """Everything that was told before has gone out when this returns."""
        self._queue.put((None, None))
        self._thread.join()

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # the driver is gone, which the main thread notices itself
            beat_due = time.monotonic() + self._beat_seconds
            while True:
                messages = self._waiting(max(0.0, beat_due - time.monotonic()))
                if time.monotonic() >= beat_due:
                    beat_due = time.monotonic() + self._beat_seconds
                    messages.append((self._beat(), None))
                for message in self._durable(messages):
                    if message is None:
                        return
                    self._control.send(Frame(MESSAGE, dumps(message)))

    def _waiting(self, seconds: float) -> list[tuple[FromTask | None, StateFiles | None]]:
        messages = []
        with contextlib.suppress(queue.Empty):
            messages.append(self._queue.get(timeout=seconds) if seconds else self._queue.get_nowait())
            while True:
                messages.append(self._queue.get_nowait())
        return messages

    def _durable(self, messages: list[tuple[FromTask | None, StateFiles | None]]) -> list[FromTask | None]:
        failed: dict[StateFiles, Exception] = {}
        for files in {files for _, files in messages if files is not None}:
            try:
                files.make_durable()
            except Exception as error:  # stores raise what they like, and this thread must live
                failed[files] = error
        return [_or_broken(message, failed.get(files) if files else None) for message, files in messages]

    def _beat(self) -> Beat:
        began = self._step_began
        return Beat(0.0 if began is None else time.monotonic() - began)


def _or_broken(message: FromTask | None, error: Exception | None) -> FromTask | None:
    if error is None or not isinstance(message, Reported):
        return message
    return Broken(message.generation, f"a snapshot could not be made durable: {error}")
