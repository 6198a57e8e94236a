# compare: exact
from pyflink.common import Types
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment


class Some(ProcessFunction):
    def process_element(self, value, ctx):
        if value == 1:
            return
        if value == 2:
            return [20, 21]
        return iter([value])


class Nothing(ProcessFunction):
    def process_element(self, value, ctx):
        pass


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3], Types.INT())
numbers.process(Some(), Types.INT()).print("some")
numbers.process(Nothing(), Types.INT()).print("nothing")
env.execute()
