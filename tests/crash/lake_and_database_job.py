"""A program that is killed again and again: lines of files go to a Delta table, and sums of numbers to PostgreSQL.

Arguments: the URL of the database with user and password, the table of sums, how many numbers, the directory of the
files, and the Delta table.
"""

from __future__ import annotations

import sys

from penstock.common import Row, Types, WatermarkStrategy
from penstock.connectors.delta.sink import DeltaSink
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSource, StreamFormat
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from penstock.datastream.connectors.number_seq import NumberSequenceSource

SUM = Types.ROW_NAMED(["k", "v"], [Types.INT(), Types.LONG()])
LINE = Types.ROW_NAMED(["line"], [Types.STRING()])
KEYS = 40


def main(url: str, table: str, numbers: int, directory: str, delta: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    # Adding up shows each repetition.
    text = f"insert into {table} (k, v) values (?, ?) on conflict (k) do update set v = {table}.v + excluded.v"
    values = env.from_source(NumberSequenceSource(0, numbers - 1), WatermarkStrategy.no_watermarks(), "numbers")
    sums = values.map(lambda n: Row(n % KEYS, n), SUM).key_by(lambda row: row[0]).map(lambda row: row, SUM)
    sums.add_sink(JdbcSink.exactly_once_sink(text, SUM, JdbcConnectionOptions(url))).uid("sums")
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory).build()
    lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "lines").map(lambda line: Row(line), LINE)
    lines.sink_to(DeltaSink(delta, LINE)).uid("lines")
    env.execute("lines and sums")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
