# compare: exact
import glob
import os
import tempfile

from pyflink.common import Types
from pyflink.common.serialization import Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy

directory = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
sink = FileSink.for_row_format(directory, Encoder.simple_string_encoder()) \
    .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()) \
    .with_output_file_config(OutputFileConfig("pre", ".txt")) \
    .with_rolling_policy(RollingPolicy.default_rolling_policy(1024 * 1024, 60000, 60000)) \
    .build()
env.from_collection([("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()])).map(lambda p: p[0] + str(p[1]), Types.STRING()).sink_to(sink)
env.execute()
paths = glob.glob(os.path.join(directory, "*"))
print(len(paths), all(os.path.basename(p).startswith("pre-") and p.endswith(".txt") for p in paths))
print(sorted(line for p in paths for line in open(p).read().split()))
