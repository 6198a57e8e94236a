"""What is shown of the command line that started a process."""

from __future__ import annotations

import pytest

from penstock.rest.cluster_views import started_as


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("/bin/penstock run -p 2 job.py --password s3cret", "/bin/penstock run -p 2 job.py"),
        ("/bin/penstock run -Ds3.secret-key=s3cret job.py", "/bin/penstock run -Ds3.secret-key=***** job.py"),
        ("/bin/penstock run -D s3.secret-key=a=s3cret job.zip x", "/bin/penstock run -D s3.secret-key=***** job.zip"),
        ("job.py jdbc:postgresql://host/shop?password=s3cret", "job.py"),
        ("-u -m my.job s3cret", "-u -m my.job"),
        ("-m penstock.cli.main cluster start", "-m penstock.cli.main cluster start"),
    ],
)
def test_no_value_that_may_be_a_password_is_shown(line: str, shown: str) -> None:
    assert started_as(line.split()) == shown.split()
