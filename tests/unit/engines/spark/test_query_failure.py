"""The message of a failed query names the cause that Spark has buried."""

from __future__ import annotations

from penstock.engines.spark.query_failure import message_of, message_of_job, was_late

HEADLINE = """[STREAM_FAILED] Query [id = 1] terminated with exception: Exception thrown in awaitResult: SQLSTATE: XXKST
=== Streaming Query ===
Identifier: q"""
STACK = """org.apache.spark.sql.streaming.StreamingQueryException: Exception thrown in awaitResult:
\tat org.apache.spark.A.b(A.scala:1)
Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times
\tat org.apache.spark.C.d(C.scala:2)
\t... 3 more
Caused by: java.io.FileNotFoundException: [CANNOT_LOAD_STATE_STORE] File 1.changelog does not exist
is the directory shared?
\tat org.apache.spark.E.f(E.scala:3)
\t... 9 more
"""


def test_the_innermost_cause_is_told_without_stacks() -> None:
    assert message_of(HEADLINE, STACK) == (
        "[STREAM_FAILED] Query [id = 1] terminated with exception: Exception thrown in awaitResult:\n"
        "Caused by: java.io.FileNotFoundException: [CANNOT_LOAD_STATE_STORE] File 1.changelog does not exist\n"
        "is the directory shared?"
    )


def test_a_cause_that_the_headline_tells_already_is_not_repeated() -> None:
    assert message_of("it broke: no space left", "X\nCaused by: java.io.IOException: no space left\n\tat a") == (
        "it broke: no space left"
    )
    assert message_of("it broke\n\tat a.b", "") == "it broke"


def test_an_action_is_told_without_pythons_bridge_to_java() -> None:
    bridge = "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.runJob.\n: "
    stage = "org.apache.spark.SparkException: Job aborted due to stage failure: Lost task 0.3 (host executor 1)"
    cause = 'java.io.IOException: Cannot run program "/bin/penstock-python": No such file or directory'
    error = Exception(f"{bridge}{stage}\n\tat a.b\nCaused by: {cause}\n\tat c.d\n\t... 3 more\n")
    assert message_of_job(error) == f"{stage}\nCaused by: {cause}"
    assert message_of_job(ValueError("plain")) == "plain"
    assert message_of_job(ValueError()) == "ValueError"


def test_only_a_python_process_that_did_not_connect_was_late() -> None:
    assert was_late("Exception thrown in awaitResult:\nCaused by: Python worker failed to connect back.")
    assert not was_late("Python worker exited unexpectedly (crashed)")
