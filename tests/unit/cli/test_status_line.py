from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from penstock.cli.status_line import StatusLine, format_duration


class Terminal(io.StringIO):
    """What the user sees: both standard streams and the status line end up here."""

    def isatty(self) -> bool:
        return True

    def screen(self) -> list[str]:
        """The lines after all erasing; enough of a terminal for a status line."""
        return [line.rsplit("\x1b[2K", 1)[-1] for line in self.getvalue().split("\n")]


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def status_line(terminal: Terminal, width: int = 120) -> StatusLine:
    console = Console(file=terminal, width=width, force_terminal=True, color_system=None, legacy_windows=False)
    return StatusLine(console)


def guarding(terminal: Terminal, stdout: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> StatusLine:
    """Called inside the test: pytest puts its own streams in place between a fixture and the test."""
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", terminal)
    line = status_line(terminal)
    line.guard_standard_streams()
    return line


def test_shows_state_epoch_records_rate_and_lag(terminal: Terminal) -> None:
    status_line(terminal).update("RUNNING", 12, 1_234_567, 120_000, 412_300.4, 1234)
    expected = "RUNNING  epoch 12  in 1,234,567  out 120,000  412,300 records/s  watermark lag 1.2 s"
    assert terminal.screen() == [expected]


def test_next_update_replaces_the_line(terminal: Terminal) -> None:
    line = status_line(terminal)
    line.update("RUNNING", 1, 1, 1, 1.0, None)
    line.update("RUNNING", 2, 2, 2, 1.0, None)
    assert terminal.screen() == ["RUNNING  epoch 2  in 2  out 2  1 records/s  watermark lag -"]


def test_never_fills_a_narrow_terminal(terminal: Terminal) -> None:
    status_line(terminal, width=30).update("RUNNING", 12, 1_234_567, 120_000, 412_300.4, 1234)
    [shown] = terminal.screen()
    assert len(shown) == 29
    assert shown.endswith("…")


def test_what_the_program_prints_stays_whole(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    line = guarding(terminal, terminal, monkeypatch)
    line.update("RUNNING", 1, 1, 1, 1.0, None)
    long = "x" * 300 + " [bold]not markup[/bold]"
    print(long)
    line.update("RUNNING", 2, 2, 2, 1.0, None)
    print("to stderr", file=sys.stderr)
    line.close()
    assert terminal.screen() == [long, "to stderr", ""]


def test_waits_while_the_program_is_in_the_middle_of_a_line(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = guarding(terminal, terminal, monkeypatch)
    print("half", end="")
    line.update("RUNNING", 1, 1, 1, 1.0, None)
    print(" and half")
    assert terminal.screen() == ["half and half", ""]
    line.close()


def test_close_erases_the_line_and_gives_the_streams_back(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    line = guarding(terminal, terminal, monkeypatch)
    assert sys.stdout is not terminal
    line.update("RUNNING", 1, 1, 1, 1.0, None)
    line.close()
    assert terminal.screen() == [""]
    assert sys.stdout is terminal
    assert sys.stderr is terminal


def test_piped_stdout_is_left_alone(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    line = guarding(terminal, pipe, monkeypatch)
    line.update("RUNNING", 1, 1, 1, 1.0, None)
    assert sys.stdout is pipe
    line.close()
    assert pipe.getvalue() == ""


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1234, "1.2 s"),
        (185_000, "3 min 5 s"),
        (7_800_000, "2 h 10 min"),
    ],
)
def test_durations(milliseconds: int, text: str) -> None:
    assert format_duration(milliseconds) == text
