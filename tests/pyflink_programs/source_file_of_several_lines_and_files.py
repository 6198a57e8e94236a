# compare: sorted
import os
import tempfile

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

directory = tempfile.mkdtemp()
for name, text in [("a.txt", "one\ntwo\n\nthree"), ("b.txt", "grün\n"), (".hidden", "no\n"), ("_temporary", "no\n")]:
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(text)
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory).build()
lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "files")
lines.map(lambda line: "[%s]" % line, Types.STRING()).print()
env.execute()
