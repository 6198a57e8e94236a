# compare: exact
from pyflink.common import Configuration
from pyflink.datastream import CheckpointingMode, RuntimeExecutionMode, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(3)
env.set_max_parallelism(64)
env.set_buffer_timeout(20)
env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
env.enable_checkpointing(5000, CheckpointingMode.AT_LEAST_ONCE)
print(env.get_parallelism(), env.get_max_parallelism(), env.get_buffer_timeout(), env.is_chaining_enabled())
env.disable_operator_chaining()
print(env.is_chaining_enabled())
checkpoints = env.get_checkpoint_config()
print(env.get_checkpoint_interval(), env.get_checkpointing_mode(), checkpoints.is_checkpointing_enabled())
checkpoints.set_checkpoint_timeout(10000)
checkpoints.set_min_pause_between_checkpoints(100)
checkpoints.set_max_concurrent_checkpoints(2)
checkpoints.set_tolerable_checkpoint_failure_number(4)
print(
    checkpoints.get_checkpoint_timeout(), checkpoints.get_min_pause_between_checkpoints(),
    checkpoints.get_max_concurrent_checkpoints(), checkpoints.get_tolerable_checkpoint_failure_number(),
)
config = env.get_config()
config.set_auto_watermark_interval(50)
config.set_global_job_parameters({"a": "1"})
print(config.get_auto_watermark_interval(), config.get_global_job_parameters(), config.get_parallelism(), config.get_max_parallelism())
env.configure(Configuration().set_string("parallelism.default", "5"))
print(env.get_parallelism())
