# compare: exact
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
words = env.from_collection(["naïve", "Ωmega", "日本語", "😀", "tab\tinside"], Types.STRING())
words.map(lambda w: (w, len(w), w.upper()), Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])).print("größe")
env.execute()
