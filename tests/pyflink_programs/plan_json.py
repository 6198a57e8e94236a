# compare: sorted
# Only what a user can rely on is shown: sources, sinks, parallelism, how records are shipped to keyed operators.
import json

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
(
    env.from_collection([("a", 1)], pair)
    .map(lambda v: v, pair)
    .name("My map")
    .key_by(lambda v: v[0])
    .reduce(lambda a, b: (a[0], a[1] + b[1]))
    .name("My total")
    .print()
)
plan = json.loads(env.get_execution_plan())
nodes = plan["nodes"]
print(list(plan))
for node in nodes:
    if node["pact"] == "Data Source":
        print("source", node["type"], node["contents"], node["parallelism"], "predecessors" in node)
    if node["pact"] == "Data Sink":
        print("sink", node["type"], node["parallelism"], [p["ship_strategy"] for p in node["predecessors"]])
    if "My total" in node["type"]:
        print("total", node["pact"], node["parallelism"], [p["ship_strategy"] for p in node["predecessors"]])
    if "My map" in node["contents"]:
        print("map", node["pact"], node["parallelism"], [p["ship_strategy"] for p in node["predecessors"]])
print(len({node["id"] for node in nodes}) == len(nodes), {p["side"] for n in nodes for p in n.get("predecessors", [])})
