# compare: exact
import os
import tempfile

from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (FileCompactor, FileCompactStrategy, FileSink, OutputFileConfig,
                                                       RollingPolicy, BucketAssigner)


def lines_of(directory):
    found = []
    for base, _, names in os.walk(directory):
        for name in sorted(names):
            if not name.startswith("."):
                with open(os.path.join(base, name)) as file:
                    found += [line.strip() for line in file]
    return found


def names_of(directory):
    return sorted(name for _, _, names in os.walk(directory) for name in names if not name.startswith("."))


def write(compactor, strategy):
    directory = tempfile.mkdtemp()
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    sink = (FileSink.for_row_format(directory, Encoder.simple_string_encoder())
            .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
            .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
            .with_output_file_config(OutputFileConfig.builder().with_part_prefix("p").with_part_suffix(".txt").build())
            .enable_compact(strategy, compactor)
            .build())
    env.from_collection(["a", "b", "c", "d"], Types.STRING()).sink_to(sink).uid("files")
    env.execute()
    print(sorted(lines_of(directory)), [name[:10] for name in names_of(directory)], len(names_of(directory)))


strategy = FileCompactStrategy.builder().set_size_threshold(1024).enable_compaction_on_checkpoint(2).build()
write(FileCompactor.concat_file_compactor(), strategy)
write(FileCompactor.concat_file_compactor(b"\n"), strategy)
write(FileCompactor.identical_file_compactor(), FileCompactStrategy.builder().set_size_threshold(1).build())
