# compare: exact
import logging

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def levels(n):
    loggers = ["", "my.module"]
    return str([[logging.getLogger(name).isEnabledFor(level) for level in (logging.DEBUG, logging.INFO, logging.ERROR)]
                for name in loggers])


def loud(n):
    logging.info("a message %d", n)
    logging.getLogger("my.module").debug("not seen")
    return n


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection([1], Types.INT()).map(loud, Types.INT()).map(levels, Types.STRING()).print()
env.execute()
