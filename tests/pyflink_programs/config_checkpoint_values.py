# compare: exact
from pyflink.common import Duration
from pyflink.datastream import CheckpointingMode, StreamExecutionEnvironment
from pyflink.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention

env = StreamExecutionEnvironment.get_execution_environment()
checkpoints = env.get_checkpoint_config()


def show():
    print(checkpoints.is_checkpointing_enabled(), checkpoints.get_checkpointing_mode(),
          checkpoints.get_checkpoint_interval(), checkpoints.get_checkpoint_timeout(),
          checkpoints.get_min_pause_between_checkpoints(), checkpoints.get_max_concurrent_checkpoints(),
          checkpoints.get_tolerable_checkpoint_failure_number(), checkpoints.is_unaligned_checkpoints_enabled(),
          checkpoints.is_externalized_checkpoints_enabled(), checkpoints.get_externalized_checkpoint_retention())


def refused(call):
    try:
        call()
        print("taken")
    except Exception:
        print("refused")


show()
env.enable_checkpointing(5000, CheckpointingMode.AT_LEAST_ONCE)
show()
print(env.get_checkpoint_interval(), env.get_checkpointing_mode())
checkpoints.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE).set_checkpoint_interval(6000)
checkpoints.set_checkpoint_timeout(70000).set_min_pause_between_checkpoints(100)
checkpoints.set_max_concurrent_checkpoints(2).set_tolerable_checkpoint_failure_number(4)
checkpoints.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
show()
checkpoints.set_max_concurrent_checkpoints(1).enable_unaligned_checkpoints()
show()
checkpoints.disable_unaligned_checkpoints()
checkpoints.set_alignment_timeout(Duration.of_seconds(3))
print(checkpoints.get_alignment_timeout() == Duration.of_seconds(3))
checkpoints.set_force_unaligned_checkpoints(True)
print(checkpoints.is_force_unaligned_checkpoints())
refused(lambda: checkpoints.set_checkpoint_interval(0))
refused(lambda: checkpoints.set_checkpoint_timeout(5))
refused(lambda: checkpoints.set_min_pause_between_checkpoints(-1))
refused(lambda: checkpoints.set_max_concurrent_checkpoints(0))
refused(lambda: checkpoints.set_tolerable_checkpoint_failure_number(-1))
refused(lambda: env.enable_checkpointing(-1))
show()
