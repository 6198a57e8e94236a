"""Lines of programs that are shown in messages do not show what they log in with."""

from __future__ import annotations

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Configuration
from penstock.common.credentials import shown_settings, without_credentials
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


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("password", "hush", "******"),
        ("s3.Secret-Key", "hush", "******"),
        ("properties.sasl.jaas.config", 'x required username="me" password="hush";', "******"),
        ("url", "jdbc:postgresql://h/d?user=me&password=hush&ssl=true", "jdbc:postgresql://h/d?user=me&password=******&ssl=true"),
        ("url", "jdbc:postgresql://h/d?sslPassword=hush", "jdbc:postgresql://h/d?sslPassword=******"),
        ("url", "jdbc:mysql://me:hush@h:1/d", "jdbc:mysql://me:******@h:1/d"),
        ("uri", "amqp://me:hu@sh@h/%2F", "amqp://me:******@h/%2F"),
        ("hosts", "http://a:1/x@y;http://b:2", "http://a:1/x@y;http://b:2"),
        ("username", "me", "me"),
    ],
)  # fmt: skip
def test_settings_are_shown_without_what_they_log_in_with(key: str, value: str, shown: str) -> None:
    assert shown_settings({key: value}) == {key: shown}
    configuration = Configuration.from_dict({key: value})
    assert str(configuration) == f"{{{key}={shown}}}" and "hush" not in repr(configuration)
    assert configuration.to_dict() == {key: value}
