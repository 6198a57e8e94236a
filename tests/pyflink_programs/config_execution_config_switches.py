# compare: exact
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
config = env.get_config()
print(config.is_closure_cleaner_enabled(), config.get_task_cancellation_interval(), config.get_task_cancellation_timeout())
config.disable_closure_cleaner().set_task_cancellation_interval(1000).set_task_cancellation_timeout(2000)
print(config.is_closure_cleaner_enabled(), config.get_task_cancellation_interval(), config.get_task_cancellation_timeout())
config.enable_closure_cleaner()
print(config.is_closure_cleaner_enabled())
print(config.is_use_snapshot_compression())
config.set_use_snapshot_compression(True)
print(config.is_use_snapshot_compression())
print(config.get_latency_tracking_interval())
config.set_latency_tracking_interval(50)
print(config.get_latency_tracking_interval())
print(config.is_object_reuse_enabled())
print(config.get_auto_watermark_interval(), config.get_max_parallelism())
