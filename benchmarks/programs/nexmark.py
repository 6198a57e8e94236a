"""Queries of Nexmark, written for PyFlink; Penstock runs the same file.

python nexmark.py QUERIES INPUT OUTPUT     (such as q0,q1; BENCH_CONFIGURATION and BENCH_SETTINGS as for the others)

Each query writes files into a directory of its own: lines of CSV, or, if its result is updated, Debezium's JSON. When
one has ended, a line of JSON says how long it took.
"""

import json
import os
import sys
import time

import pandas as pd
from pyflink.common import Configuration
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udf

_TABLES = {
    "person": "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, "
    "`dateTime` TIMESTAMP(3), extra STRING",
    "auction": "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
    "`dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), "
    "extra STRING",
}
_DAY = "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')"
_RANKED = (
    "COUNT(*) AS total_bids, COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids, "
    "COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids, "
    "COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids"
)
_PEOPLE = (
    "COUNT(DISTINCT bidder) AS total_bidders, COUNT(DISTINCT bidder) FILTER (WHERE price < 10000) AS rank1_bidders, "
    "COUNT(DISTINCT bidder) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bidders, "
    "COUNT(DISTINCT bidder) FILTER (WHERE price >= 1000000) AS rank3_bidders"
)
_COUNTS = (
    "SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime "
    "FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND)) "
    "GROUP BY auction, window_start, window_end"
)

# q6 needs an OVER window on a changelog, which Flink SQL has not; q12 and q13 depend on the clock.
QUERIES = {
    "q0": "SELECT auction, bidder, price, `dateTime`, extra FROM bid",
    "q1": "SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0",
    "q3": "SELECT P.name, P.city, P.state, A.id FROM auction AS A INNER JOIN person AS P ON A.seller = P.id "
    "WHERE A.category = 10 AND (P.state = 'or' OR P.state = 'id' OR P.state = 'ca')",
    "q4": "SELECT Q.category, AVG(Q.final) AS a FROM (SELECT MAX(B.price) AS final, A.category FROM auction A, bid B "
    "WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires GROUP BY A.id, A.category) Q "
    "GROUP BY Q.category",
    "q5": f"SELECT AuctionBids.auction, AuctionBids.num FROM ({_COUNTS}) AS AuctionBids JOIN (SELECT MAX(num) AS maxn, "
    f"starttime, endtime FROM ({_COUNTS}) GROUP BY starttime, endtime) AS MaxBids ON AuctionBids.starttime = "
    "MaxBids.starttime AND AuctionBids.endtime = MaxBids.endtime AND AuctionBids.num >= MaxBids.maxn",
    "q7": "SELECT B.auction, B.price, B.bidder, B.`dateTime`, B.extra FROM bid B JOIN (SELECT MAX(price) AS maxprice, "
    "window_end AS `dateTime` FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end) B1 ON B.price = B1.maxprice "
    "WHERE B.`dateTime` BETWEEN B1.`dateTime` - INTERVAL '10' SECOND AND B1.`dateTime`",
    "q8": "SELECT P.id, P.name, P.starttime FROM (SELECT id, name, window_start AS starttime, window_end AS endtime "
    "FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) "
    "GROUP BY id, name, window_start, window_end) P JOIN (SELECT seller, window_start AS starttime, "
    "window_end AS endtime FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND)) "
    "GROUP BY seller, window_start, window_end) A ON P.id = A.seller AND P.starttime = A.starttime "
    "AND P.endtime = A.endtime",
    "q9": "SELECT id, itemName, seller, category, auction, bidder, price, bid_dateTime FROM (SELECT A.*, B.auction, "
    "B.bidder, B.price, B.`dateTime` AS bid_dateTime, ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, "
    "B.`dateTime` ASC) AS rownum FROM auction A, bid B WHERE A.id = B.auction "
    "AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires) WHERE rownum <= 1",
    "q10": f"SELECT auction, bidder, price, `dateTime`, extra, {_DAY} AS dt, DATE_FORMAT(`dateTime`, 'HH:mm') AS hm "
    "FROM bid",
    "q11": "SELECT bidder, COUNT(*) AS bid_count, SESSION_START(`dateTime`, INTERVAL '10' SECOND) AS starttime, "
    "SESSION_END(`dateTime`, INTERVAL '10' SECOND) AS endtime FROM bid "
    "GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND)",
    "q14": "SELECT auction, bidder, 0.908 * price AS price, CASE WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 "
    "THEN 'dayTime' WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime' ELSE 'otherTime' END "
    "AS bidTimeType, `dateTime`, CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS c_counts FROM bid "
    "WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000",
    "q15": f"SELECT {_DAY} AS `day`, {_RANKED}, {_PEOPLE} FROM bid GROUP BY {_DAY}",
    "q16": f"SELECT channel, {_DAY} AS `day`, MAX(DATE_FORMAT(`dateTime`, 'HH:mm')) AS `minute`, {_RANKED}, {_PEOPLE} "
    f"FROM bid GROUP BY channel, {_DAY}",
    "q17": f"SELECT auction, {_DAY} AS `day`, {_RANKED}, MIN(price) AS min_price, MAX(price) AS max_price, "
    f"AVG(price) AS avg_price, SUM(price) AS sum_price FROM bid GROUP BY auction, {_DAY}",
    "q18": "SELECT auction, bidder, price, channel, url, `dateTime`, extra FROM (SELECT *, ROW_NUMBER() OVER "
    "(PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS rank_number FROM bid) WHERE rank_number <= 1",
    "q19": "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number "
    "FROM bid) WHERE rank_number <= 10",
    "q20": "SELECT auction, bidder, price, channel, url, B.`dateTime`, B.extra, itemName, description, initialBid, "
    "reserve, A.`dateTime` AS adateTime, expires, seller, category FROM bid AS B INNER JOIN auction AS A "
    "ON B.auction = A.id WHERE A.category = 10",
    "q21": "SELECT auction, bidder, price, channel, CASE WHEN LOWER(channel) = 'apple' THEN '0' WHEN LOWER(channel) = "
    "'google' THEN '1' WHEN LOWER(channel) = 'facebook' THEN '2' WHEN LOWER(channel) = 'baidu' THEN '3' ELSE "
    "REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id FROM bid WHERE "
    "REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL OR "
    "LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')",
    "q22": "SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3) AS dir1, SPLIT_INDEX(url, '/', 4) "
    "AS dir2, SPLIT_INDEX(url, '/', 5) AS dir3 FROM bid",
}
# Beside Nexmark: functions in Python, called for each row and for columns of many rows; and what remains without them.
PYTHON_QUERIES = {
    "udf": "SELECT auction, bidder, with_tax(price) AS price FROM bid",
    "udf_pandas": "SELECT auction, bidder, with_tax_pandas(price) AS price FROM bid",
    "no_udf": "SELECT auction, bidder, price FROM bid",
}
_UPDATED = ("q4", "q9", "q15", "q16", "q17", "q18", "q19")


@udf(result_type=DataTypes.BIGINT())
def with_tax(price):
    return price + price // 5


@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def with_tax_pandas(price: pd.Series) -> pd.Series:
    return price + price // 5


def environment(numbers, data):
    configuration = Configuration()
    for key, value in json.loads(os.environ["BENCH_CONFIGURATION"]).items():
        configuration.set_string(key, value)
    configuration.set_string("parallelism.default", str(numbers["parallelism"]))
    settings = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    tables = TableEnvironment.create(settings)
    for name, columns in _TABLES.items():
        tables.execute_sql(
            f"CREATE TABLE {name} ({columns}, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND) WITH "
            f"('connector' = 'filesystem', 'path' = '{data}/{name}', 'format' = 'csv')"
        )
    tables.create_temporary_function("with_tax", with_tax)
    tables.create_temporary_function("with_tax_pandas", with_tax_pandas)
    return tables


def run(tables, name, table, directory, numbers):
    form = "debezium-json" if name in _UPDATED else "csv"
    tables.execute_sql(
        f"CREATE TABLE {table} WITH ('connector' = 'filesystem', 'path' = '{directory}', 'format' = '{form}', "
        f"'sink.rolling-policy.rollover-interval' = '{numbers['commit_ms']} ms', "
        f"'sink.rolling-policy.check-interval' = '{numbers['commit_ms'] // 2} ms') AS "
        + {**QUERIES, **PYTHON_QUERIES}[name]
    ).wait()


def main(queries, data, output):
    numbers = json.loads(os.environ["BENCH_SETTINGS"])
    tables = environment(numbers, data)
    names = queries.split(",")
    run(tables, names[0], "warm_up", f"{output}/warm_up", numbers)
    for name in names:
        print(json.dumps({"query": name}), flush=True)
        start = time.monotonic()
        try:
            run(tables, name, f"result_{name}", f"{output}/{name}", numbers)
        except Exception as error:
            print(json.dumps({"query": name, "failed": str(error)[-600:]}), flush=True)
            continue
        print(json.dumps({"query": name, "seconds": round(time.monotonic() - start, 3)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
