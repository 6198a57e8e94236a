# compare: exact
import glob
import os
import re
import tempfile

from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink

folder = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["b", "a"], Types.STRING())
words.sink_to(FileSink.for_row_format(os.path.join(folder, "default"), Encoder.simple_string_encoder()).build())
words.sink_to(
    FileSink.for_row_format(os.path.join(folder, "yearly"), Encoder.simple_string_encoder())
    .with_bucket_assigner(BucketAssigner.date_time_bucket_assigner("'year'=yyyy", "UTC"))
    .build()
)
env.execute()
for name in sorted(glob.glob(folder + "/**/*", recursive=True)):
    if os.path.isfile(name):
        with open(name) as file:
            relative = re.sub(r"[0-9]", "9", os.path.relpath(name, folder))
            print(re.sub(r"part-[0-9a-f-]+", "part-ID", relative), file.read().split())
