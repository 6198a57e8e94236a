"""Queries of Nexmark, written for PyFlink; Penstock runs the same file. Prints digests of final tables as JSON."""

import argparse
import hashlib
import json
import time
from collections import Counter

from pyflink.table import EnvironmentSettings, TableEnvironment

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
    "q10": f"SELECT auction, bidder, price, `dateTime`, extra, {_DAY}, DATE_FORMAT(`dateTime`, 'HH:mm') FROM bid",
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


def declare(tables: TableEnvironment, data: str) -> None:
    for name, columns in _TABLES.items():
        tables.execute_sql(
            f"CREATE TABLE {name} ({columns}, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND) WITH "
            f"('connector' = 'filesystem', 'path' = '{data}/{name}.csv', 'format' = 'csv')"
        )


def final_table(rows) -> Counter:
    """The table that the changelog describes."""
    table: Counter = Counter()
    for row in rows:
        # By name: as text, a kind differs between the two.
        table[tuple(map(str, row))] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
    return table


def digest(table: Counter) -> str:
    lines = sorted(repr(row) for row, count in table.items() for _ in range(count))
    return hashlib.md5("\n".join(lines).encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--queries", default=",".join(QUERIES))
    parser.add_argument("--parallelism", default="2")
    given = parser.parse_args()
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("parallelism.default", given.parallelism)
    declare(tables, given.data)
    for name in given.queries.split(","):
        start = time.monotonic()
        try:
            with tables.execute_sql(QUERIES[name]).collect() as rows:
                table = final_table(rows)
        except Exception as error:
            print(json.dumps({"query": name, "failed": str(error)[:300]}), flush=True)
            continue
        seconds = time.monotonic() - start
        found = {"query": name, "rows": sum(table.values()), "digest": digest(table), "seconds": round(seconds, 2)}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
