# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

from pyflink.common import RowKind

row = Row("a", 1)
print(row.get_row_kind(), row.get_row_kind().name)
row.set_row_kind(RowKind.DELETE)
print(row.get_row_kind() == RowKind.DELETE, str(RowKind.UPDATE_BEFORE), RowKind.UPDATE_AFTER.value)
print(Row.of_kind(RowKind.INSERT, 1) == Row(1), Row(1) == Row(2))
kinds = env.from_collection([Row.of_kind(RowKind.DELETE, "x")], Types.ROW([Types.STRING()]))
kinds.map(lambda r: r.get_row_kind().name, Types.STRING()).print()
env.execute()
