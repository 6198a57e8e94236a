# compare: exact
from pyflink.common import Row, Time, Types
from pyflink.datastream import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)


class Longest(ReduceFunction):
    def reduce(self, a, b):
        return a if len(a) >= len(b) else b


class Mean(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0.0)

    def add(self, value, accumulator):
        return Row(accumulator[0] + 1, accumulator[1] + value)

    def get_result(self, accumulator):
        return accumulator[1] / accumulator[0]

    def merge(self, a, b):
        return Row(a[0] + b[0], a[1] + b[1])


class Every(KeyedProcessFunction):
    def open(self, runtime_context):
        ttl = (
            StateTtlConfig.new_builder(Time.hours(1))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
            .cleanup_full_snapshot()
            .cleanup_incrementally(10, True)
            .cleanup_in_rocksdb_compact_filter(1000)
            .build()
        )
        longest = ReducingStateDescriptor("longest", Longest(), Types.STRING())
        mean = AggregatingStateDescriptor("mean", Mean(), Types.ROW([Types.INT(), Types.DOUBLE()]))
        words = ListStateDescriptor("words", Types.STRING())
        counts = MapStateDescriptor("counts", Types.STRING(), Types.ROW_NAMED(["n", "last"], [Types.INT(), Types.STRING()]))
        first = ValueStateDescriptor("first", Types.LIST(Types.STRING()))
        for descriptor in (longest, mean, words, counts, first):
            descriptor.enable_time_to_live(ttl)
        self.longest = runtime_context.get_reducing_state(longest)
        self.mean = runtime_context.get_aggregating_state(mean)
        self.words = runtime_context.get_list_state(words)
        self.counts = runtime_context.get_map_state(counts)
        self.first = runtime_context.get_state(first)

    def process_element(self, word, ctx):
        before = (self.longest.get(), self.mean.get() if self.first.value() else None)
        if word == "!":
            self.longest.clear()
            self.mean.clear()
            self.words.update(["cleared"])
            self.counts.clear()
            self.first.clear()
        else:
            self.longest.add(word)
            self.mean.add(len(word))
            self.words.add_all([word, word.upper()])
            old = self.counts[word] if word in self.counts else Row(n=0, last="")
            self.counts[word] = Row(n=old.n + 1, last=word[-1])
            self.counts.put_all([("x", Row(n=0, last="z"))])
            if self.first.value() is None:
                self.first.update([word, "first"])
        yield "%s: %s %s %s %s %s" % (
            word, before, self.longest.get(), list(self.words.get() or []),
            sorted((k, v.n, v.last) for k, v in self.counts.items()), self.first.value(),
        )


class NewOnly(FilterFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.BOOLEAN()))

    def filter(self, value):
        if self.seen.contains(value):
            return False
        self.seen.put(value, True)
        return True


class Pairs(FlatMapFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_list_state(ListStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def flat_map(self, value):
        for earlier in self.last.get() or ():
            yield earlier["word"] + value
        self.last.add({"word": value})


class Numbered(MapFunction):
    def open(self, runtime_context):
        self.number = runtime_context.get_reducing_state(ReducingStateDescriptor("number", lambda a, b: a + b, Types.LONG()))

    def map(self, value):
        self.number.add(1)
        return "%d %s" % (self.number.get(), value)


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.set_max_parallelism(7)
words = env.from_collection(["ab", "c", "ab", "defg", "!", "h", "ab"], Types.STRING())
keyed = words.key_by(lambda w: 0, Types.INT())
for line in keyed.process(Every(), Types.STRING()).execute_and_collect():
    print(line)
for function in ("filter", "flat_map", "map"):
    chosen = {"filter": lambda: keyed.filter(NewOnly()), "flat_map": lambda: keyed.flat_map(Pairs(), Types.STRING()),
              "map": lambda: keyed.map(Numbered(), Types.STRING())}[function]()
    print(function, list(chosen.execute_and_collect()))
print(words.get_execution_environment().get_max_parallelism())
