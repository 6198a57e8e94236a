"""Lines of programs that are shown in messages do not show what they log in with."""

from __future__ import annotations

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common.credentials import without_credentials
from penstock.common.errors import JobExecutionError


@pytest.mark.parametrize(
    "line",
    [
        'stream.add_sink(JdbcSink.sink(sql, row, JdbcConnectionOptions(url, "me", password="hush")))',
        "options.with_password('hush')",
        'connect("jdbc:postgresql://h/db?user=me&password=hush")',
        'redis("redis://me:hush@host:6379")',
        """.set_property("sasl.jaas.config", 'x required username="me" password="hush";')""",
    ],
)
def test_texts_of_a_line_with_a_password_are_hidden(line: str) -> None:
    assert "hush" not in without_credentials(line)
    assert without_credentials(line).partition('"')[0] == line.replace("'", '"').partition('"')[0]


def test_other_lines_stay_as_they_are() -> None:
    line = 'words.map(lambda token: (token, 1)).name("count words, token by token at http://host:80/x")'
    assert without_credentials(line) == line


def test_a_failure_shows_the_users_line_without_its_password(local_env: EnvironmentFactory) -> None:
    env = local_env()
    env.from_collection([0]).map(lambda n: [n, len("password hush"), 1 // n]).print()
    with pytest.raises(JobExecutionError, match="ZeroDivisionError") as failure:
        env.execute()
    assert 'map(lambda n: [n, len("*****"), 1 // n])' in str(failure.value)
    assert f'File "{__file__}"' in str(failure.value)
    assert "hush" not in str(failure.value)
