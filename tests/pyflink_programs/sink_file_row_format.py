# compare: exact
import glob
import os
import tempfile

from pyflink.common import Encoder, Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy

folder = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)


def content(path):
    lines = []
    for name in sorted(glob.glob(path + "/**/*", recursive=True)):
        if os.path.isfile(name):
            with open(name, encoding="utf-8") as file:
                lines += file.read().splitlines()
    return sorted(lines)


def sink(name):
    return (
        FileSink.for_row_format(os.path.join(folder, name), Encoder.simple_string_encoder("UTF-8"))
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_output_file_config(OutputFileConfig.builder().with_part_prefix("out").with_part_suffix(".txt").build())
        .with_rolling_policy(RollingPolicy.default_rolling_policy())
        .build()
    )


env.from_collection(["x", "ü", "", "z"], Types.STRING()).sink_to(sink("text"))
env.execute()
print(content(os.path.join(folder, "text")))
files = os.listdir(os.path.join(folder, "text"))
print(len(files), [(f.startswith("out-"), f.endswith(".txt")) for f in files])

rows = env.from_collection(
    [Row("tea", 2, False, 1.0, None)],
    Types.ROW([Types.STRING(), Types.INT(), Types.BOOLEAN(), Types.DOUBLE(), Types.STRING()]),
)
rows.sink_to(sink("rows"))
env.execute()
print(content(os.path.join(folder, "rows")))

pairs = env.from_collection([("tea", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
pairs.map(lambda p: (p[0].upper(), p[1] * 2), Types.TUPLE([Types.STRING(), Types.INT()])).sink_to(sink("tuples"))
env.execute()
print(content(os.path.join(folder, "tuples")))

numbers = env.from_collection([1.0, 2.5], Types.DOUBLE())
numbers.map(lambda n: n / 2, Types.DOUBLE()).sink_to(sink("doubles"))
env.execute()
print(content(os.path.join(folder, "doubles")))
