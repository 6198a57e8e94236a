# compare: exact
from pyflink.datastream import (EmbeddedRocksDBStateBackend, FileSystemCheckpointStorage, HashMapStateBackend,
                                JobManagerCheckpointStorage, StreamExecutionEnvironment)


def show(call):
    try:
        print(call())
    except Exception:
        print("is refused")


for text in ["file:///var/checkpoints", "file:/var/checkpoints", "/var/checkpoints", "file:///var/checkpoints/",
             "hdfs://host:80/a//b/", "s3://bucket/path", "relative/path", "file://var/checkpoints", "file:///a/../b"]:
    show(lambda: FileSystemCheckpointStorage(text).get_checkpoint_path())
backend = EmbeddedRocksDBStateBackend()
for texts in [["/tmp/a"], ["file:///tmp/a", "/tmp/b"], ["file:/tmp/c"], ["/tmp/d/"], ["relative"], ["s3://x/y"]]:
    def set_and_get():
        backend.set_db_storage_paths(*texts)
        return backend.get_db_storage_paths()
    show(set_and_get)
print(backend.get_number_of_transfer_threads(), backend.get_predefined_options())
backend.set_number_of_transfer_threads(8)
print(backend.get_number_of_transfer_threads())
storage = JobManagerCheckpointStorage()
print(storage.get_max_state_size(), JobManagerCheckpointStorage(max_state_size=100).get_max_state_size())
env = StreamExecutionEnvironment.get_execution_environment()
checkpoints = env.get_checkpoint_config()
