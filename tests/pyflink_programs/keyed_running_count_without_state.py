# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection(range(10), Types.INT())
remainders = numbers.map(lambda n: (n % 3, 1, n), Types.TUPLE([Types.INT(), Types.INT(), Types.INT()]))
totals = remainders.key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1], a[2] + b[2]))
averages = totals.map(lambda v: "%d: %.2f of %d" % (v[0], v[2] / v[1], v[1]), Types.STRING())
for line in averages.execute_and_collect("averages"):
    print(line)
