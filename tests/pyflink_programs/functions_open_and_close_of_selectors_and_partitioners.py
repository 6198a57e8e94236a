# compare: sorted
import os
from pyflink.common import Types, WatermarkStrategy, Time
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import *
from pyflink.datastream.functions import *
from pyflink.datastream.window import *


def say(*a):
    print(*a, flush=True)


class L:
    def open(self, c):
        print(type(self).__name__, "open", flush=True)

    def close(self):
        print(type(self).__name__, "close", flush=True)


class Part(L, Partitioner):
    def partition(self, key, n):
        return key % n


class Sel(L, KeySelector):
    def get_key(self, v):
        return v % 2


class Sel2(L, KeySelector):
    def get_key(self, v):
        return v % 2


class Red(L, ReduceFunction):
    def reduce(self, a, b):
        return a + b


class Mp(L, MapFunction):
    def map(self, v):
        return v


class Fm(L, FlatMapFunction):
    def flat_map(self, v):
        yield v


class Fi(L, FilterFunction):
    def filter(self, v):
        return True


class CoM(L, CoMapFunction):
    def map1(self, v):
        return v

    def map2(self, v):
        return v


class CoF(L, CoFlatMapFunction):
    def flat_map1(self, v):
        yield v

    def flat_map2(self, v):
        yield v


class CoP(L, CoProcessFunction):
    def process_element1(self, v, ctx):
        yield v

    def process_element2(self, v, ctx):
        yield v


class Pr(L, ProcessFunction):
    def process_element(self, v, ctx):
        yield v


class WinF(L, WindowFunction):
    def apply(self, k, w, els):
        yield sum(els)


class PWin(L, ProcessWindowFunction):
    def process(self, k, ctx, els):
        yield sum(els)


class AllW(L, AllWindowFunction):
    def apply(self, w, els):
        yield sum(els)


class PAllW(L, ProcessAllWindowFunction):
    def process(self, ctx, els):
        yield sum(els)


class TA(L, TimestampAssigner):
    def extract_timestamp(self, v, t):
        return v


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
s = lambda: env.from_collection([1, 2, 3], Types.INT())


def run(name, ds):
    print("--", name, flush=True)
    try:
        ds.print()
        env.execute()
    except Exception as e:
        print("fails", flush=True)


run("partitioner", s().partition_custom(Part(), lambda v: v).map(lambda v: v, Types.INT()))
run("partitioner sel", s().partition_custom(lambda k, n: k % n, Sel()).map(lambda v: v, Types.INT()))
run("key_by", s().key_by(Sel()).map(lambda v: v, Types.INT()))
run("reduce", s().key_by(Sel(), Types.INT()).reduce(Red()))
run("map chain", s().map(Mp(), Types.INT()).flat_map(Fm(), Types.INT()).filter(Fi()))
run("keyed map chain", s().key_by(lambda v: v).map(Mp(), Types.INT()).filter(Fi()))
run("keyed fm", s().key_by(lambda v: v).flat_map(Fm(), Types.INT()))
run("keyed filter", s().key_by(lambda v: v).filter(Fi()))
run("comap", s().connect(s()).map(CoM(), Types.INT()))
run("coflat keyed", s().connect(s()).key_by(Sel(), Sel2()).flat_map(CoF(), Types.INT()))
run("coproc", s().connect(s()).process(CoP(), Types.INT()))
run("process", s().process(Pr(), Types.INT()))
run(
    "assigner",
    s().assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(TA())),
)
run("win apply", s().key_by(Sel()).count_window(1).apply(WinF(), Types.INT()))
run("win process", s().key_by(Sel()).count_window(1).process(PWin(), Types.INT()))
