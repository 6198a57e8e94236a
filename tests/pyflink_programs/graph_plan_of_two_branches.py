# compare: exact
import json

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2], Types.INT()).name("numbers")
numbers.map(lambda n: n, Types.INT()).name("double").print().name("out")
numbers.key_by(lambda n: n, Types.INT()).sum().name("sums").print().name("other out")
plan = json.loads(env.get_execution_plan())
print(len(plan["nodes"]) > 3, sorted(plan))
print([node["parallelism"] for node in plan["nodes"]].count(1) == len(plan["nodes"]))
