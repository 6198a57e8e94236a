# compare: exact
from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment


def mark(row):
    result = Row(row[0], row[1])
    result.set_row_kind([RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE][row[0] % 4])
    return result


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
kind = Types.ROW_NAMED(["n", "word"], [Types.INT(), Types.STRING()])
rows = env.from_collection([Row(n, "w%d" % n) for n in range(6)], kind).map(mark, kind)
rows.print()
env.execute()
for row in rows.filter(lambda r: r[0] != 2).execute_and_collect():
    print(row, row.get_row_kind())
for row in rows.map(lambda r: (r[0], str(r.get_row_kind())), Types.TUPLE([Types.INT(), Types.STRING()])).execute_and_collect():
    print(row)
