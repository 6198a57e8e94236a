# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import KeySelector, StreamExecutionEnvironment


class ByCity(KeySelector):
    def get_key(self, value):
        return value.city


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
visit = Types.ROW_NAMED(["city", "year", "n"], [Types.STRING(), Types.INT(), Types.INT()])
visits = env.from_collection([Row("Rome", 1, 1), Row("Oslo", 1, 2), Row("Rome", 2, 3), Row("Rome", 1, 4)], visit)
visits.key_by(ByCity()).sum("n").print("class")
env.execute()
visits.key_by(lambda v: (v.city, v.year)).sum("n").print("tuple")
env.execute()
visits.key_by(lambda v: (v.city, v.year), Types.TUPLE([Types.STRING(), Types.INT()])).sum("n").print("typed tuple")
env.execute()
visits.key_by(lambda v: Row(v.city), Types.ROW([Types.STRING()])).sum("n").print("row")
env.execute()
visits.key_by(lambda v: v.year, Types.INT()).sum("n").print("int")
env.execute()
visits.key_by(lambda v: v.n > 2, Types.BOOLEAN()).sum("n").print("bool")
env.execute()
