# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
cases = [
    ("int overflow", lambda n: 2**40, Types.INT()),
    ("byte overflow", lambda n: 1000, Types.BYTE()),
    ("text for int", lambda n: "text", Types.INT()),
    ("list for tuple", lambda n: [1, 2], Types.TUPLE([Types.INT(), Types.INT()])),
    ("number for text", lambda n: 5, Types.STRING()),
    ("fine", lambda n: 5, Types.LONG()),
]
for label, function, type_info in cases:
    try:
        print(label, list(env.from_collection([1], Types.INT()).map(function, type_info).execute_and_collect()))
    except Exception:
        print(label, "raises")
