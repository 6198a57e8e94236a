"""A word count written for PyFlink. Nothing in it knows Penstock.

penstock run --pyflink examples/pyflink_word_count.py [--input FILE]
"""

import argparse

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

LINES = [
    "the penstock leads the water to the wheel",
    "the water turns the wheel",
    "the wheel turns the mill",
]


def word_count(path: str | None) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    if path is None:
        lines = env.from_collection(LINES, type_info=Types.STRING())
    else:
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "text file")
    (
        lines.flat_map(lambda line: line.split(), output_type=Types.STRING())
        .map(lambda word: (word.lower(), 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .reduce(lambda left, right: (left[0], left[1] + right[1]))
        .print()
    )
    env.execute("word count")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Counts words.")
    parser.add_argument("--input", help="a text file; a few lines of the program's own without it")
    word_count(parser.parse_args().input)
