# compare: sorted
import os
import shutil
import tempfile

from pyflink.common import Encoder, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, FileSource, OutputFileConfig, StreamFormat

directory = tempfile.mkdtemp()
try:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    config = OutputFileConfig.builder().with_part_prefix("line").with_part_suffix(".txt").build()
    sink = FileSink.for_row_format(directory, Encoder.simple_string_encoder()).with_output_file_config(config).build()
    env.from_collection(["one", "two words", "", "drei ü"], Types.STRING()).sink_to(sink)
    env.execute("write")
    names = [name for _, _, files in os.walk(directory) for name in files]
    print(len(names), all(name.startswith("line") and name.endswith(".txt") for name in names))
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory).build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    lines.map(lambda line: "<%s> %d" % (line, len(line)), Types.STRING()).print()
    env.execute("read")
finally:
    shutil.rmtree(directory)
