# compare: exact
from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment

config = Configuration()
for key, value in {
    "python.logging.default.level": "WARN", "execution.batch-shuffle-mode": "ALL_EXCHANGES_PIPELINED",
    "state.backend.local-recovery": "true", "execution.checkpointing.snapshot-compression": "true",
    "taskmanager.memory.task.heap.size": "200m", "cluster.evenly-spread-out-slots": "true",
    "pipeline.closure-cleaner-level": "NONE", "task.cancellation.interval": "1 s", "metrics.latency.interval": "10 s",
    "execution.checkpointing.unaligned.enabled": "true", "heartbeat.interval": "5 s", "my.own.key": "value",
}.items():
    config.set_string(key, value)
env = StreamExecutionEnvironment.get_execution_environment(config)
env.set_parallelism(1)
env.from_collection([1, 2], Types.INT()).map(lambda n: n + 1, Types.INT()).print()
env.execute()
