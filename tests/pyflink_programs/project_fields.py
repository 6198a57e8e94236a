# compare: sorted
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
people = env.from_collection(
    [("Ann", 30, "Rome"), ("Bob", 25, "Oslo")], Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
)
people.project(2, 0).print()
people.project(1).print()
env.execute()
try:
    people.project(3)
    print("accepted")
except Exception as error:
    print("refused")
