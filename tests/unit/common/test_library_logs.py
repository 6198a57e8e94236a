from __future__ import annotations

import logging

from penstock.common.library_logs import only_warnings_of


def test_a_library_is_quiet_unless_the_program_names_it() -> None:
    quiet, wanted = logging.getLogger("tests.quiet"), logging.getLogger("tests.wanted")
    wanted.setLevel(logging.DEBUG)
    only_warnings_of("tests.quiet")
    only_warnings_of("tests.wanted")
    assert quiet.level == logging.WARNING and wanted.level == logging.DEBUG
