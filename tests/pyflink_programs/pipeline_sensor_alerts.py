# compare: sorted
# A small application: averages per sensor, alerts to a side output, unknown sensors elsewhere.
from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, OutputTag, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor

ALERT = OutputTag("alert", Types.STRING())
reading = Types.ROW_NAMED(["sensor", "value"], [Types.STRING(), Types.DOUBLE()])


class Average(KeyedProcessFunction):
    def __init__(self, limit):
        self.limit = limit

    def open(self, runtime_context):
        self.acc = runtime_context.get_state(
            ValueStateDescriptor("acc", Types.TUPLE([Types.DOUBLE(), Types.LONG()]))
        )

    def process_element(self, value, ctx):
        total, count = self.acc.value() or (0.0, 0)
        total, count = total + value.value, count + 1
        self.acc.update((total, count))
        average = total / count
        if value.value > self.limit:
            yield ALERT, "%s %.1f" % (value.sensor, value.value)
        yield Row(value.sensor, average)


def parse(line):
    name, _, number = line.partition("=")
    return Row(sensor=name.strip(), value=float(number))


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    lines = env.from_collection(["s1=10", "s2=1.5", "s1=30", "s2 = 2.5", "bad", "s1=20"], Types.STRING())
    readings = lines.filter(lambda line: "=" in line).map(parse, reading)
    averages = readings.key_by(lambda r: r.sensor, Types.STRING()).process(Average(15.0), reading)
    averages.print("average")
    averages.get_side_output(ALERT).print("alert")
    env.execute("sensors")


if __name__ == "__main__":
    main()
