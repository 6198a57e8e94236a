# compare: exact
import glob
import os
import tempfile

from pyflink.common import Types
from pyflink.common.serialization import Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import OutputFileConfig, RollingPolicy, StreamingFileSink

directory = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.enable_checkpointing(200)
sink = StreamingFileSink.for_row_format(directory, Encoder.simple_string_encoder()) \
    .with_output_file_config(OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build()) \
    .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()) \
    .build()
env.from_collection(["one", "two", "three"], Types.STRING()).add_sink(sink)
env.execute()
found = []
for path in glob.glob(os.path.join(directory, "**", "*"), recursive=True) + glob.glob(os.path.join(directory, "**", ".*"), recursive=True):
    if os.path.isfile(path):
        found += open(path).read().split()
print(sorted(found))
