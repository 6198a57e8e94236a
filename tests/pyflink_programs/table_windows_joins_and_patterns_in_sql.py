# compare: sorted
import tempfile
from pyflink.table import EnvironmentSettings, TableEnvironment

d = tempfile.mkdtemp()
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
open(d + "/clicks.csv", "w").write("""u1,home,2026-01-01 00:00:01
u2,shop,2026-01-01 00:00:05
u1,shop,2026-01-01 00:00:12
u1,pay,2026-01-01 00:00:15
u2,home,2026-01-01 00:00:40
u1,home,2026-01-01 00:01:10
""")
open(d + "/rates.csv", "w").write("""home,1,2026-01-01 00:00:00
shop,2,2026-01-01 00:00:00
shop,3,2026-01-01 00:00:10
""")
t_env.execute_sql(
    f"CREATE TABLE clicks (usr STRING, page STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector'='filesystem','path'='{d}/clicks.csv','format'='csv')"
)
t_env.execute_sql(
    f"CREATE TABLE rates (page STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='{d}/rates.csv','format'='csv')"
)
t_env.execute_sql(
    "CREATE TEMPORARY VIEW versions AS SELECT page, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY page ORDER BY ts DESC) n FROM rates) WHERE n = 1"
)
qs = [
    "SELECT window_start, window_end, usr, COUNT(*) c, LISTAGG(page) p FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, usr",
    "SELECT window_start, COUNT(DISTINCT usr) c FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY window_start, window_end",
    "SELECT window_start, window_end, COUNT(*) c FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND)) GROUP BY window_start, window_end",
    "SELECT window_start, window_end, usr, COUNT(*) c FROM TABLE(SESSION(TABLE clicks PARTITION BY usr, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, usr",
    "SELECT c.usr, c.page, r.rate FROM clicks c JOIN versions FOR SYSTEM_TIME AS OF c.ts r ON c.page = r.page",
    "SELECT a.usr, a.page, b.page FROM clicks a JOIN clicks b ON a.usr = b.usr AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '15' SECOND",
    "SELECT usr, page, COUNT(*) OVER (PARTITION BY usr ORDER BY ts RANGE BETWEEN INTERVAL '15' SECOND PRECEDING AND CURRENT ROW) c FROM clicks",
    "SELECT * FROM clicks MATCH_RECOGNIZE (PARTITION BY usr ORDER BY ts MEASURES A.ts AS st, LAST(B.page) AS lp, COUNT(*) AS n ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) DEFINE A AS A.page = 'home', B AS B.page <> 'pay', C AS C.page = 'pay')",
    "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY c DESC, page) rn FROM (SELECT window_start, window_end, page, COUNT(*) c FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, page)) WHERE rn <= 1",
    "SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) s, page, COUNT(*) FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), page",
    "SELECT l.usr, r.page, l.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND))) l JOIN (SELECT * FROM TABLE(TUMBLE(TABLE rates, DESCRIPTOR(ts), INTERVAL '10' SECOND))) r ON l.page = r.page AND l.window_start = r.window_start AND l.window_end = r.window_end",
]
for i, q in enumerate(qs):
    for r in t_env.execute_sql(q).collect():
        print(i, r.get_row_kind(), r)
