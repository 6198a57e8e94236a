# compare: sorted
import os
import tempfile

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

directory = tempfile.mkdtemp()
for name, text in {"a.txt": "one\ntwo", "b.txt": "\nthree\r\n", "_hidden": "no", ".dot": "no"}.items():
    with open(os.path.join(directory, name), "w", newline="") as file:
        file.write(text)
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory).build()
for line in env.from_source(files, WatermarkStrategy.no_watermarks(), "files").execute_and_collect():
    print("line", repr(line))
sequence = env.from_source(NumberSequenceSource(5, 9), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
print(sorted(sequence.execute_and_collect()), sequence.get_type())
print(sorted(env.from_source(NumberSequenceSource(3, 3), WatermarkStrategy.no_watermarks(), "one").execute_and_collect()))
