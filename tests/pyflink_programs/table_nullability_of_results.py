# compare: exact
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import *
from pyflink.table.types import DataTypes
from pyflink.table.window import Tumble, Slide, Session, Over


def battery(mode):
    t_env = TableEnvironment.create(
        EnvironmentSettings.in_streaming_mode() if mode == "s" else EnvironmentSettings.in_batch_mode()
    )
    for nm in "tw":
        t_env.execute_sql(
            f"""CREATE TABLE {nm} (a INT NOT NULL, b INT, s STRING NOT NULL, u STRING, d DOUBLE NOT NULL, dc DECIMAL(10,2) NOT NULL, k BOOLEAN NOT NULL, n BOOLEAN, ts TIMESTAMP(3) NOT NULL, rt TIMESTAMP(3), lt TIMESTAMP_LTZ(3) NOT NULL, pt AS PROCTIME(), WATERMARK FOR rt AS rt) WITH ('connector'='datagen', 'number-of-rows'='3')"""
        )
    t_env.execute_sql(
        f"""CREATE TABLE z (a INT NOT NULL, lt TIMESTAMP_LTZ(3) NOT NULL, PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR lt AS lt) WITH ('connector'='datagen', 'number-of-rows'='3')"""
    )
    t = t_env.from_path("t")
    w = t_env.from_path("w")
    z = t_env.from_path("z")
    tw = lambda: t.window(Tumble.over(lit(1).hours).on(col("rt")).alias("x"))
    zw = lambda: z.window(Tumble.over(lit(1).hours).on(col("lt")).alias("x"))
    pw = lambda: t.window(Tumble.over(lit(1).hours).on(col("pt")).alias("x"))
    W = col("x")
    fl = dict(
        gwz=lambda: zw().group_by(W).select(W.start, W.end, W.rowtime, col("a").sum),
        gwp=lambda: pw().group_by(W).select(W.start, W.end, W.proctime, col("a").sum),
        gwall=lambda: (
            tw()
            .group_by(W)
            .select(
                col("a").sum,
                col("a").max.alias("m"),
                col("a").avg.alias("g"),
                col("a").stddev_pop.alias("sp"),
                col("a").var_samp.alias("vs"),
                col("a").collect.alias("cl"),
                col("a").count.distinct.alias("cd"),
            )
        ),
        gs=lambda: (
            t.window(Slide.over(lit(2).hours).every(lit(1).hours).on(col("rt")).alias("x"))
            .group_by(W, col("u"))
            .select(col("u"), W.start, W.end)
        ),
        gse=lambda: (
            t.window(Session.with_gap(lit(2).hours).on(col("rt")).alias("x"))
            .group_by(W, col("u"))
            .select(col("u"), W.start, W.end, W.rowtime, (col("a").max + 1).alias("y"))
        ),
        gcnt=lambda: (
            t.window(Tumble.over(row_interval(2)).on(col("pt")).alias("x"))
            .group_by(W, col("u"))
            .select(col("u"), col("a").sum)
        ),
        ggrp=lambda: t.group_by(col("a"), col("u")).select(
            col("a"),
            col("u"),
            col("a").sum.alias("v"),
            col("b").sum.alias("v2"),
            col("d").max.alias("dm"),
            col("a").count.alias("c"),
            col("a").sum0.alias("s0"),
            lit(1).count.alias("c1"),
            col("s").min.alias("sm"),
            col("dc").sum.alias("dcs"),
            col("dc").avg.alias("dca"),
            col("a").first_value.alias("fv"),
            col("b").last_value.alias("lv"),
            col("s").list_agg().alias("la"),
            col("a").array_agg.alias("aa"),
        ),
        gall=lambda: t.select(
            col("a").sum.alias("v"),
            col("b").sum.alias("v2"),
            col("d").max.alias("dm"),
            col("a").count.alias("c"),
            col("a").sum0.alias("s0"),
            col("s").min.alias("sm"),
            col("a").avg.alias("ag"),
            col("dc").sum.alias("dcs"),
            col("dc").avg.alias("dca"),
            col("a").first_value.alias("fv"),
            col("a").stddev_samp.alias("ss"),
        ),
        gset=lambda: t.group_by(col("a")).select(col("a").sum.distinct.alias("sd"), col("a").collect.alias("cl")),
        join=lambda: (
            t.select(col("a"), col("u")).join(z.select(col("a").alias("za"), col("lt"))).where(col("a") == col("za"))
        ),
        join2=lambda: t.select(col("a"), col("b")).join(z.select(col("a").alias("za")), col("b") == col("za")),
        union=lambda: t.select(col("a"), col("b")).union_all(t.select(col("b").alias("a"), col("a").alias("b"))),
        union2=lambda: t.select(col("a")).union_all(w.select(col("a"))),
        inq=lambda: (
            t.select(col("a").in_(w.select(col("b"))).alias("v"))
            if False
            else t.select(col("a")).where(col("a").in_(w.select(col("b"))))
        ),
        filt=lambda: t.where(col("b").is_not_null).select(col("b"), col("u")),
        distinct=lambda: t.select(col("a"), col("u")).distinct(),
        order=lambda: t.select(col("a"), col("u")).order_by(col("a")).fetch(2),
        addc=lambda: t.select(col("a"), col("u")).add_columns(
            (col("a") + 1).alias("c"), concat(col("u"), "x").alias("e")
        ),
        addr=lambda: t.select(col("a"), col("u")).add_or_replace_columns(col("u").if_null("").alias("u")),
        drop=lambda: t.drop_columns(col("pt"), col("ts"), col("n")),
        ren=lambda: t.select(col("a"), col("u")).rename_columns(col("a").alias("q")),
        als=lambda: t.select(col("a"), col("u")).alias("p", "q"),
        time=lambda: t.select(col("rt"), col("pt"), col("ts"), col("lt")),
        vals=lambda: t_env.from_elements([(1, "a"), (2, None)], ["x", "y"]),
        vals2=lambda: t_env.from_elements(
            [(1, "a"), (2, None)],
            DataTypes.ROW([DataTypes.FIELD("x", DataTypes.INT().not_null()), DataTypes.FIELD("y", DataTypes.STRING())]),
        ),
        view=lambda: (t_env.create_temporary_view("vv", t.select(col("a"), col("u"))), t_env.from_path("vv"))[1],
    )
    sq = dict(
        grp="SELECT a, u, SUM(a) s, SUM(b) s2, COUNT(*) c, COUNT(u) c2, MAX(a) m, MIN(u) mn, AVG(a) g, MAX(d) md, SUM(dc) sdc, LISTAGG(s) la, FIRST_VALUE(a) fv, COLLECT(a) cl, STDDEV_POP(a) sp, JSON_OBJECTAGG(s VALUE a) ja, ARRAY_AGG(a) aa FROM t GROUP BY a, u",
        filt="SELECT a, SUM(a) FILTER (WHERE b > 1) f, COUNT(a) FILTER (WHERE b > 1) fc, MAX(a) FILTER (WHERE TRUE) fm FROM t GROUP BY a",
        grs="SELECT a, s, SUM(a) v, GROUPING(a) g, GROUPING_ID(a, s) gi, COUNT(*) c FROM t GROUP BY GROUPING SETS ((a), (s), ())",
        cube="SELECT a, s, MAX(a) v FROM t GROUP BY CUBE (a, s)",
        rollup="SELECT a, s, MAX(a) v FROM t GROUP BY ROLLUP (a, s)",
        rollup1="SELECT a, s, MAX(a) v FROM t GROUP BY a, ROLLUP (s)",
        tvf="SELECT window_start, window_end, a, SUM(a) s, MAX(u) u, COUNT(*) c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(rt), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, a",
        tvft="SELECT window_start, window_end, window_time, SUM(a) s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(rt), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, window_time",
        tvfh="SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(rt), INTERVAL '1' HOUR, INTERVAL '2' HOUR))",
        tvfz="SELECT * FROM TABLE(TUMBLE(TABLE z, DESCRIPTOR(lt), INTERVAL '1' HOUR))",
        tvfp="SELECT window_start, window_end, window_time FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(pt), INTERVAL '1' HOUR))",
        tvfc="SELECT window_start, window_time, MAX(a) m FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(rt), INTERVAL '1' HOUR, INTERVAL '2' HOUR)) GROUP BY window_start, window_end, window_time",
        oldg="SELECT TUMBLE_START(rt, INTERVAL '1' HOUR) a, TUMBLE_END(rt, INTERVAL '1' HOUR) b, TUMBLE_ROWTIME(rt, INTERVAL '1' HOUR) c, TUMBLE_PROCTIME(rt, INTERVAL '1' HOUR) d, SUM(a) s FROM t GROUP BY TUMBLE(rt, INTERVAL '1' HOUR)",
        olds="SELECT SESSION_START(rt, INTERVAL '1' HOUR) a, SESSION_END(rt, INTERVAL '1' HOUR) b, SESSION_ROWTIME(rt, INTERVAL '1' HOUR) c, u FROM t GROUP BY u, SESSION(rt, INTERVAL '1' HOUR)",
        case1="SELECT CASE WHEN k THEN a ELSE 1 END v FROM t",
        case2="SELECT CASE WHEN n THEN a ELSE b END v FROM t",
        case3="SELECT CASE a WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END v FROM t",
        case4="SELECT CASE a WHEN 1 THEN s END v FROM t",
        case5="SELECT IF(k, a, 1) v, IF(n, a, b) w, IFNULL(b, 1) x, COALESCE(b, a) y, NULLIF(a, 1) z, COALESCE(u, 'a') q, COALESCE(b, NULL, 1) r FROM t",
        case6="SELECT CASE WHEN b IS NULL THEN 0 ELSE b END v, CASE WHEN b IS NOT NULL THEN b ELSE 0 END w, CASE WHEN u IS NULL THEN 'n' WHEN u = 'a' THEN u ELSE 'x' END y FROM t",
        where="SELECT b, u, b + 1 v FROM t WHERE b IS NOT NULL AND u = 'x'",
        join="SELECT t.a, t.u, z.a za, z.lt FROM t JOIN z ON t.a = z.a",
        left="SELECT t.a, t.u, z.a za, z.lt, COALESCE(z.a, 0) v FROM t LEFT JOIN z ON t.a = z.a",
        right="SELECT t.a, t.k, z.a za FROM t RIGHT JOIN z ON t.a = z.a",
        full="SELECT t.a, t.k, z.a za FROM t FULL JOIN z ON t.a = z.a",
        using="SELECT a, t.k FROM t LEFT JOIN z USING (a)",
        usingf="SELECT * FROM (SELECT a, k FROM t) FULL JOIN (SELECT a, lt FROM z) USING (a)",
        usingr="SELECT a, k FROM (SELECT a, k FROM t) RIGHT JOIN (SELECT a, lt FROM z) USING (a)",
        nat="SELECT * FROM (SELECT a, k FROM t) NATURAL JOIN (SELECT a, lt FROM z)",
        semi="SELECT a FROM t WHERE EXISTS (SELECT * FROM z WHERE z.a = t.a)",
        scal="SELECT a, (SELECT MAX(a) FROM z) m, (SELECT COUNT(*) FROM z) c FROM t",
        insel="SELECT a, a IN (1, 2) v, b IN (1, 2) w, a = ANY (SELECT a FROM z) FROM t"
        if False
        else "SELECT a, a IN (1, 2) v, b IN (1, 2) w FROM t",
        lat="SELECT a, v FROM t, UNNEST(ARRAY[1, 2]) AS x(v)",
        lat2="SELECT a, v FROM t LEFT JOIN UNNEST(ARRAY[1, 2]) AS x(v) ON TRUE",
        over="SELECT a, SUM(a) OVER w s, COUNT(*) OVER w c, ROW_NUMBER() OVER w r, MAX(b) OVER w m, AVG(a) OVER w g, FIRST_VALUE(a) OVER w f, LAG(a) OVER w l FROM t WINDOW w AS (PARTITION BY u ORDER BY rt)",
        top="SELECT a, u, r FROM (SELECT a, u, ROW_NUMBER() OVER (PARTITION BY u ORDER BY a DESC) r FROM t) WHERE r <= 2",
        union="SELECT a, b FROM t UNION ALL SELECT b, a FROM t",
        union2="SELECT a FROM t UNION SELECT a FROM z",
        inter="SELECT a FROM t INTERSECT SELECT b FROM w",
        minus="SELECT a FROM t EXCEPT SELECT b FROM w",
        vals2="SELECT x, SUM(y) s FROM (VALUES (1, 2.5), (2, 3.25)) AS v(x, y) GROUP BY x",
        cast="SELECT CAST(a AS STRING) v, CAST(s AS INT) w, TRY_CAST(s AS INT) x, CAST(b AS BIGINT) y, CAST(NULL AS INT) z FROM t",
        arith="SELECT a + 1 a, a + b b, a * 1.5 c, dc / 3 d, dc * dc e, -a f, a / 2 g, MOD(a, 2) h, POWER(a, 2) i, ABS(a) j, ROUND(d, 1) k, ROUND(dc, 1) l, RAND() m, GREATEST(a, 1) n, LEAST(a, b) o, FLOOR(dc) p, SIGN(a) q, a % 3 r FROM t",
        text="SELECT UPPER(s) a, LOWER(u) b, s || 'x' c, s || u d, CONCAT(s, 'a') e, CONCAT_WS('-', s, u) f, SUBSTRING(s, 1, 2) g, CHAR_LENGTH(s) h, TRIM(s) i, REPLACE(s, 'a', 'b') j, LPAD(s, 3, 'x') k, SPLIT_INDEX(s, ',', 0) l, REGEXP_EXTRACT(s, 'a') m, POSITION('a' IN s) n, INITCAP(s) o, MD5(s) p, JSON_VALUE(s, '$.a') q, JSON_EXISTS(s, '$.a') r, s LIKE 'a' t, s SIMILAR TO 'a' x, LOCATE('a', s) y, JSON_QUERY(s, '$') z, ASCII(s) aa, REVERSE(s) bb, REPEAT(s, 2) cc, LEFT(s, 1) dd, STR_TO_MAP(s) ee, PARSE_URL(s, 'HOST') ff, BTRIM(s) gg, ELT(1, s) hh, REGEXP_COUNT(s, 'a') ii, STARTSWITH(s, 'a') jj, TRANSLATE(s, 'a', 'b') kk, PRINTF('a', s) ll FROM t",
        temp="SELECT t.a, z.a za, z.lt zl FROM t LEFT JOIN z FOR SYSTEM_TIME AS OF t.lt ON t.a = z.a",
        wj="SELECT L.a, R.a ra, L.window_start, R.window_end FROM (SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(rt), INTERVAL '1' HOUR))) L LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(rt), INTERVAL '1' HOUR))) R ON L.a = R.a AND L.window_start = R.window_start AND L.window_end = R.window_end",
        having="SELECT u, MAX(a) m FROM t GROUP BY u HAVING COUNT(*) > 1",
        wd="SELECT COUNT(DISTINCT a) c, SUM(DISTINCT a) s FROM t",
        sub="SELECT x, y FROM (SELECT a + 1 AS x, MAX(d) AS y FROM t GROUP BY a + 1)",
        anyv="SELECT a > ALL (SELECT a FROM z) v FROM t"
        if False
        else "SELECT a IS DISTINCT FROM b v, a IS NOT DISTINCT FROM 1 w, (a > b) IS UNKNOWN x, k AND n y, k OR TRUE z, NOT n q FROM t",
    )
    queries = {"sql " + name: lambda query=query: t_env.sql_query(query) for name, query in sq.items()}
    for name, made in {**fl, **queries}.items():
        print(mode, name, *(str(column) for column in made().get_resolved_schema().get_columns()), sep=" | ")


battery("s")
battery("b")
