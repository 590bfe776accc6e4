# TPC-H on both sides of a benchmark. Sourced after cluster.sh, with the servers started; needs SCALE and runtime_dir.

tpch() { java_in -jar "$RUN_DIR/lib/kakehashi-tools.jar" tpch "$@"; }

# The same indexes on both sides; without those on foreign keys PostgreSQL needs hours for queries 17 and 20.
TPCH_INDEXES="CREATE INDEX lineitem_part ON lineitem (l_partkey, l_suppkey);
CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey);
CREATE INDEX orders_customer ON orders (o_custkey)"

# The same rows in the schema "public" of the engine and of PostgreSQL, whose indexes are made; those of the engine are the caller's.
load_tpch() {
  local table
  tpch load --runtime-directory "$runtime_dir" --scale "$SCALE" --schema public
  tpch ddl --schema public | sql
  for table in region nation supplier customer part partsupp orders lineitem; do
    tpch text --scale "$SCALE" "$table" | sql -c "COPY $table FROM STDIN"
  done
  sql -c "$TPCH_INDEXES" -c 'VACUUM ANALYZE'
}

# tpch_query NUMBER: one statement; the view of query 15 as a table expression.
tpch_query() {
  tpch query "$1" | sed -e '/^--/d' -e 's/CREATE OR REPLACE VIEW revenue AS/WITH revenue AS (/' -e 's/^  l_suppkey;$/  l_suppkey)/' -e 's/;$//'
}
