# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Subtask(KeyedProcessFunction):
    def open(self, runtime_context):
        self.context = runtime_context

    def process_element(self, value, ctx):
        yield value[0], self.context.get_index_of_this_subtask()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
data = [("key%d" % (i % 7), i) for i in range(70)]
subtasks = {}
for key, subtask in env.from_collection(data, pair).key_by(lambda v: v[0]).process(Subtask(), pair).execute_and_collect():
    subtasks.setdefault(key, set()).add(subtask)
print(sorted(subtasks), all(len(s) == 1 for s in subtasks.values()))
