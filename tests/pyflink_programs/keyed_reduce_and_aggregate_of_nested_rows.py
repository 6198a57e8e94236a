# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
inner = Types.ROW_NAMED(["lo", "hi"], [Types.INT(), Types.INT()])
kind = Types.ROW_NAMED(["key", "range", "names"], [Types.STRING(), inner, Types.LIST(Types.STRING())])
rows = env.from_collection(
    [Row("a", Row(3, 3), ["x"]), Row("b", Row(9, 9), []), Row("a", Row(1, 7), ["y", "z"]), Row("b", Row(4, 5), ["w"])], kind
)


def widen(a, b):
    return Row(a[0], Row(min(a[1][0], b[1][0]), max(a[1][1], b[1][1])), list(a[2]) + list(b[2]))


keyed = rows.key_by(lambda r: r["key"], Types.STRING())
for row in keyed.reduce(widen).execute_and_collect():
    print(row.key, row.range.lo, row.range.hi, list(row.names))
for row in keyed.map(lambda r: Row(r.key, r.range.hi - r.range.lo), Types.ROW([Types.STRING(), Types.INT()])).execute_and_collect():
    print(row)
