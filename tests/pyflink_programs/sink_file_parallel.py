# compare: exact
import glob
import os
import tempfile

from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink

folder = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
sink = (
    FileSink.for_row_format(folder, Encoder.simple_string_encoder())
    .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    .build()
)
env.from_collection(list(range(10)), Types.INT()).map(lambda n: "line %d" % n, Types.STRING()).sink_to(sink)
env.execute()
lines = []
for name in glob.glob(folder + "/*"):
    with open(name) as file:
        lines += file.read().splitlines()
print(len(glob.glob(folder + "/*")), sorted(lines))
