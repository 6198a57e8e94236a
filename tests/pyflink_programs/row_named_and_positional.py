# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
named = Types.ROW_NAMED(["id", "city", "open"], [Types.INT(), Types.STRING(), Types.BOOLEAN()])
shops = env.from_collection([(1, "Rome", True), (2, "Oslo", False), (3, None, True)], named)
shops.print("shops")
shops.map(lambda r: Row(r.city, r["id"] * 10), Types.ROW([Types.STRING(), Types.INT()])).print("swapped")
shops.map(lambda r: ",".join(str(x) for x in r), Types.STRING()).print("joined")
env.execute()
for row in shops.execute_and_collect():
    print(row, row.city, row[0], row.as_dict(), len(row))
