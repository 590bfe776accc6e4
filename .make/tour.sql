-- What "make run" shows: foreign tables of the engine next to local tables. Can be run again and again.
\pset footer off
\set ECHO queries
\timing on

-- Tables of the engine become foreign tables, with their columns, types and estimates.
\set QUIET on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS tpch CASCADE;
CREATE SCHEMA tpch;
\set QUIET off
IMPORT FOREIGN SCHEMA tpch FROM SERVER kakehashi INTO tpch;

-- A point query: one request, one response in the mailbox.
SELECT o_orderkey, o_custkey, o_totalprice, o_orderdate FROM tpch.orders WHERE o_orderkey = 7;

-- TPC-H Q1: pricing summary report.
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       round(avg(l_quantity), 2) AS avg_qty, count(*) AS count_order
FROM tpch.lineitem
WHERE l_shipdate <= date '1998-09-02'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;

-- TPC-H Q3: shipping priority, a join of three tables.
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM tpch.customer
JOIN tpch.orders ON c_custkey = o_custkey
JOIN tpch.lineitem ON l_orderkey = o_orderkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < date '1995-03-15' AND l_shipdate > date '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 5;

-- TPC-H Q6: forecasting revenue change.
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM tpch.lineitem
WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24;

-- A join of a local table with foreign ones.
CREATE TEMP TABLE favourite (name text PRIMARY KEY, why text);
INSERT INTO favourite VALUES ('JAPAN', 'bridges'), ('FRANCE', 'bread');
SELECT f.name, f.why, count(*) AS customers
FROM favourite f
JOIN tpch.nation n ON rtrim(n.n_name) = f.name
JOIN tpch.customer c ON c.c_nationkey = n.n_nationkey
GROUP BY f.name, f.why ORDER BY f.name;

-- One transaction over both sides, rolled back.
BEGIN;
UPDATE tpch.orders SET o_comment = 'changed' WHERE o_orderkey = 7;
INSERT INTO favourite VALUES ('PERU', 'mountains');
SELECT o_comment FROM tpch.orders WHERE o_orderkey = 7;
ROLLBACK;
SELECT o_comment FROM tpch.orders WHERE o_orderkey = 7;
SELECT count(*) AS favourites FROM favourite;

-- A table into a file that the endpoint reaches, what is in it, and back.
SELECT file, rows, bytes FROM kakehashi_dump('kakehashi', 'tpch.nation', 'files:nation.parquet', '{"format": "parquet", "overwrite": true}');
SELECT kind, name, value FROM kakehashi_inspect('kakehashi', 'files:nation.parquet', '{"format": "parquet"}');
BEGIN;
DELETE FROM tpch.nation;
SELECT rows_read, rows_loaded FROM kakehashi_load('kakehashi', 'tpch.nation', 'files:nation.parquet', '{"format": "parquet"}');
COMMIT;

-- What runs where.
EXPLAIN (VERBOSE, COSTS OFF)
SELECT l_returnflag, count(*) FROM tpch.lineitem WHERE l_shipdate > date '1998-01-01' GROUP BY l_returnflag;
