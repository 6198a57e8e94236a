# compare: sorted
import json

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

for strategy in ["rebalance", "shuffle", "rescale", "broadcast", "forward"]:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    first = env.from_collection([1, 2], Types.INT()).map(lambda n: n, Types.INT()).name("first")
    getattr(first, strategy)().map(lambda n: n, Types.INT()).name("second").disable_chaining().print().name("out")
    nodes = json.loads(env.get_execution_plan())["nodes"]
    for node in nodes:
        if node["contents"].startswith("second") or "out" in node["contents"]:
            print(strategy, node["contents"], node["pact"], [p["ship_strategy"] for p in node["predecessors"]])
