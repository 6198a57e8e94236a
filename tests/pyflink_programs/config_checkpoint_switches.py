# compare: exact
from pyflink.common import Duration
from pyflink.datastream import CheckpointingMode, ExternalizedCheckpointRetention, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
checkpoints = env.get_checkpoint_config()
print(checkpoints.is_checkpointing_enabled(), checkpoints.get_checkpoint_interval(), checkpoints.get_checkpointing_mode())
print(checkpoints.is_unaligned_checkpoints_enabled(), checkpoints.is_force_unaligned_checkpoints())
env.enable_checkpointing(1000)
checkpoints.enable_unaligned_checkpoints()
print(checkpoints.is_unaligned_checkpoints_enabled(), env.is_unaligned_checkpoints_enabled())
checkpoints.set_force_unaligned_checkpoints(True)
print(checkpoints.is_force_unaligned_checkpoints(), env.is_force_unaligned_checkpoints())
checkpoints.disable_unaligned_checkpoints()
print(checkpoints.is_unaligned_checkpoints_enabled())
print(checkpoints.get_alignment_timeout() is not None)
checkpoints.set_alignment_timeout(Duration.of_millis(500))
print(checkpoints.get_alignment_timeout() == Duration.of_millis(500))
print(checkpoints.is_fail_on_checkpointing_errors() if hasattr(checkpoints, "is_fail_on_checkpointing_errors") else "-")
checkpoints.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
print(checkpoints.get_externalized_checkpoint_retention(), checkpoints.is_externalized_checkpoints_enabled())
checkpoints.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)
print(checkpoints.get_checkpointing_mode(), env.get_checkpointing_mode())
print(checkpoints.is_checkpointing_enabled())
