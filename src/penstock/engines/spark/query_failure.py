"""What Spark says about a query that has failed: its headline, and the cause at the bottom of its stack trace."""

from __future__ import annotations

import re

from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from penstock.common.failure import Failure

_HEADLINE_ENDS = ("\nJVM stacktrace", "\n\tat ", "\n=== Streaming Query ===", " SQLSTATE:")
_CAUSE = re.compile(
    r"^Caused by: (?P<cause>.*(?:\n(?!\s+at |\s*\.\.\. \d+ more|Caused by: |Driver stacktrace:).*)*)", re.MULTILINE
)
_MOST_CHARACTERS = 2_000
_LATE = "Python worker failed to connect back"


def failure_of_query(query: StreamingQuery) -> Failure:
    exception = query.exception()
    if exception is None:
        return Failure("JobExecutionError", "Spark could not run the job: the Spark query ended without saying why")
    return Failure("JobExecutionError", f"Spark could not run the job: {message_of(str(exception), _stack(query))}")


def message_of(headline: str, stack: str) -> str:
    """The headline without its own stack; and the innermost cause, if that says more."""
    for mark in _HEADLINE_ENDS:
        headline = headline.split(mark)[0]
    headline = headline.strip()
    causes = [match["cause"].strip() for match in _CAUSE.finditer(stack)]
    if not causes or causes[-1].split(": ", 1)[-1] in headline:
        return headline
    return f"{headline}\nCaused by: {causes[-1][:_MOST_CHARACTERS]}"


def message_of_job(error: Exception) -> str:
    """Of an action on the driver: py4j puts the Java exception, with its stack, behind a line of its own."""
    text = str(error)
    return message_of(text.partition("\n: ")[2] or text, text) or type(error).__name__


def was_late(message: str) -> bool:
    """Spark gives a Python process ten seconds to connect, and nobody can change that: on a busy machine it may be

    late, which says nothing about the job.
    """
    return _LATE in message


def _stack(query: StreamingQuery) -> str:
    """With all causes; Spark's Python side keeps only the first."""
    try:
        utilities = getattr(SparkContext._jvm, "org.apache.spark.util.Utils")
        return str(utilities.exceptionString(query._jsq.exception().get()))
    except Exception:  # the JVM may be gone, and the headline is better than nothing
        return ""
