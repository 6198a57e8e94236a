# compare: exact
import os
import tempfile

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

path = os.path.join(tempfile.mkdtemp(), "words.txt")
with open(path, "w") as file:
    file.write("to be or not to be\nthat is the question\nto be\n")

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
source = FileSource.for_record_stream_format(StreamFormat.text_line_format("UTF-8"), path).build()
lines = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "file source")
pair = Types.TUPLE([Types.STRING(), Types.INT()])
counts = (
    lines.flat_map(lambda line: [(word, 1) for word in line.split()], pair)
    .key_by(lambda v: v[0], Types.STRING())
    .reduce(lambda a, b: (a[0], a[1] + b[1]))
)
counts.print()
env.execute("file word count")
