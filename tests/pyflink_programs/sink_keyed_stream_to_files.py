# compare: exact
import glob
import os
import tempfile

from pyflink.common import Types
from pyflink.common.serialization import Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink

directory = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
sink = FileSink.for_row_format(directory, Encoder.simple_string_encoder()) \
    .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
env.from_collection([("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()])).key_by(lambda p: p[0], Types.STRING()).sink_to(sink)
env.execute()
print(sorted(line for p in glob.glob(os.path.join(directory, "*")) for line in open(p).read().splitlines()))
