# compare: sorted
import os
import tempfile

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

folder = tempfile.mkdtemp()
os.mkdir(os.path.join(folder, "sub"))
for name, content in [
    ("one.txt", "first line\nsecond line\n"),
    ("two.txt", "windows line\r\n\nafter an empty line"),
    ("sub/three.txt", "in a sub folder\nümlaut\n"),
    ("_hidden.txt", "hidden\n"),
    (".secret", "secret\n"),
    ("empty.txt", ""),
]:
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write(content)

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), folder).process_static_file_set().build()
lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "files")
lines.map(lambda line: "[%s] %d" % (line, len(line)), Types.STRING()).print()
env.execute()
