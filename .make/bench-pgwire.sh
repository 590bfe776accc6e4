#!/usr/bin/env bash
# make bench-pgwire: the engine "pgwire" over a private PostgreSQL against PgJDBC and postgres_fdw on the same one, taking turns in one run, fsync on.
# Prints medians, ratios (how many times as fast as the other) and goals; kept in target/bench-pgwire/.
#   ROWS=               of the printed table, all without: select commit scan load fdw
#   TABLE_ROWS=1000000  of the table             SECONDS_PER_RUN=3   of each rate     REPETITIONS=5   of each measure
#   WARMUP_SECONDS=10   before rates: the compilers of both sides work that long
#   ENDPOINT_OPTIONS=   of its JVM, as -XX:StartFlightRecording=...; their effect is part of the result
. "$(dirname "$0")/lib.sh"

. "$ROOT/.make/bench-files.sh" bench-pgwire

step "servers"
end_servers_with_script "$home"
start_postgres "$home/pg" 54700 shared_buffers=512MB max_wal_size=4GB max_prepared_transactions=64
PGPORT=$(cat "$home/pg/port")
PGPASSWORD=$(as_server cat "$home/pg/password")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGPASSWORD
sql -d postgres -c 'CREATE DATABASE remote' -c 'CREATE DATABASE local'
sql -d remote -c "CREATE TABLE numbers (id int8 PRIMARY KEY, grp int4, val int4)" \
  -c "INSERT INTO numbers SELECT i, i % 10, i * 7919 % 100000 FROM generate_series(1::int8, ${TABLE_ROWS:-1000000}) i" \
  -c "CREATE TABLE loaded (id int8, grp int4, val int4)" -c "VACUUM ANALYZE numbers"
export JDK_JAVA_OPTIONS=${ENDPOINT_OPTIONS:-}
start_endpoint "$home/endpoint" "$runtime_dir" --set engine=pgwire --set "pgwire_addresses=localhost:$PGPORT" \
  --set pgwire_database=remote --set pgwire_user=postgres --set "pgwire_password_file=$home/pg/password"
unset JDK_JAVA_OPTIONS
sql -d local <<SQL
CREATE EXTENSION kakehashi_fdw;
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir');
CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;
CREATE EXTENSION postgres_fdw;
CREATE SERVER postgres FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'localhost', port '$PGPORT', dbname 'remote', use_remote_estimate 'false');
CREATE USER MAPPING FOR CURRENT_USER SERVER postgres OPTIONS (user 'postgres', password '$PGPASSWORD');
CREATE SCHEMA k;
CREATE SCHEMA p;
IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO k;
IMPORT FOREIGN SCHEMA public FROM SERVER postgres INTO p;
CREATE TABLE keys AS SELECT (i * 997 % ${TABLE_ROWS:-1000000} + 1)::int8 AS id FROM generate_series(1, 1000) i;
ANALYZE keys;
ANALYZE p.numbers;
SQL
export PGDATABASE=local

step "results"
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, medians of %s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "${REPETITIONS:-5}"
  # shellcheck disable=SC2086 # the rows are words
  java_in -Dbench.tableRows="${TABLE_ROWS:-1000000}" -Dbench.seconds="${SECONDS_PER_RUN:-3}" -Dbench.repetitions="${REPETITIONS:-5}" \
    -Dbench.warmUpSeconds="${WARMUP_SECONDS:-10}" \
    -Dslf4j.provider=org.slf4j.simple.SimpleServiceProvider -Dslf4j.internal.verbosity=WARN \
    -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-tools.jar:$RUN_DIR/lib/kakehashi-endpoint.jar:$RUN_DIR/lib/peer/*" \
    dev.kakehashi.benchmarks.pgwire.PgWireBenchmark "$runtime_dir" "jdbc:postgresql://localhost:$PGPORT/remote" \
    "$(pg_bin)/pgbench" "$home" "$(endpoint_pid "$home/endpoint")" ${ROWS:-select commit scan load fdw}
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
