# compare: exact
import os
import tempfile

from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (BucketAssigner, OutputFileConfig, RollingPolicy,
                                                       StreamingFileSink)

directory = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
sink = (StreamingFileSink.for_row_format(directory, Encoder.simple_string_encoder())
        .with_bucket_check_interval(100)
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.default_rolling_policy(1024 * 1024, 60000, 60000))
        .with_output_file_config(OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".suf").build())
        .build())
added = env.from_collection(["a", "b", "c"], Types.STRING()).add_sink(sink)
print(type(added).__name__)
added.name("files").set_parallelism(1)
env.execute()
lines = []
for base, _, names in os.walk(directory):
    for name in names:
        with open(os.path.join(base, name)) as file:
            lines += file.read().split()
        print("prefix", ".pre" in "." + name, "suffix", ".suf" in name)
print(sorted(lines))
