# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

LONG = OutputTag("long words", Types.ROW_NAMED(["word", "length"], [Types.STRING(), Types.INT()]))
FLOATS = OutputTag("floats", Types.FLOAT())
ANY = OutputTag("any")


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        yield value.upper()
        if len(value) > 3:
            yield LONG, Row(value, len(value))
        yield FLOATS, len(value) / 10
        yield ANY, {value: [len(value)]}


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["tea", "cake", "bread"], Types.STRING()).process(Split(), Types.STRING())
print(list(words.get_side_output(LONG).execute_and_collect()))
print(list(words.get_side_output(FLOATS).execute_and_collect()))
print(list(words.get_side_output(LONG).map(lambda r: r.word + str(r.length), Types.STRING()).execute_and_collect()))
print(list(words.get_side_output(ANY).map(lambda d: str(d), Types.STRING()).execute_and_collect()))
for tag in ("", None):
    try:
        print(OutputTag(tag).tag_id)
    except Exception:
        print(repr(tag), "is refused")
