# compare: exact
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment


class Process(ProcessFunction):
    def process_element(self, value, ctx):
        raise ValueError("in process")


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        raise KeyError("in keyed")


def fail(value):
    raise RuntimeError("in lambda")


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)


def show(label, build):
    build(env.from_collection([1], Types.INT())).filter(lambda n: False).print()
    try:
        env.execute()
        print(label, "runs")
    except Exception as error:
        text = str(error)
        print(label, [name for name in ("ValueError", "KeyError", "RuntimeError") if name in text])


show("process", lambda ds: ds.process(Process(), Types.INT()))
show("keyed", lambda ds: ds.key_by(lambda n: n, Types.INT()).process(Keyed(), Types.INT()))
show("filter", lambda ds: ds.filter(fail))
show("reduce", lambda ds: ds.union(ds).key_by(lambda n: n, Types.INT()).reduce(lambda a, b: fail(a)))
show("key selector", lambda ds: ds.key_by(fail, Types.INT()).map(lambda n: n, Types.INT()))
