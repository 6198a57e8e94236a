# compare: exact
from pyflink.datastream import SlotSharingGroup, StreamExecutionEnvironment
from pyflink.datastream.slot_sharing_group import MemorySize

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
group = SlotSharingGroup.builder("big").set_cpu_cores(1.5).set_task_heap_memory_mb(100) \
    .set_task_off_heap_memory(MemorySize.of_mebi_bytes(10)).set_managed_memory_mb(20) \
    .set_external_resource("gpu", 1.0).build()
print(group.get_name(), group.get_cpu_cores(), group.get_task_heap_memory(), group.get_external_resources())
print(group.get_managed_memory(), group.get_task_off_heap_memory())
env.register_slot_sharing_group(group).register_slot_sharing_group(SlotSharingGroup.builder("plain").build())
