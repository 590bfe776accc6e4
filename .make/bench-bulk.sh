#!/usr/bin/env bash
# make bench-bulk: COPY of the engine against COPY of PostgreSQL's heap, DuckDB and cp, taking turns in one run, the same rows and keys, fsync on.
# Prints medians with what they must be; kept in target/bench-bulk/. DuckDB is a library that Maven fetches.
#   ROWS=                 of the printed table, all without: csv parquet arrow workers parquetdump arrowdump beside cancel large
#   TABLE_ROWS=10000000   of the table, 120 bytes of CSV each
#   LARGE_ROWS=8500000    of "large": some 1 GB of CSV; 85000000 are 10 GB and need MEMORY=20GB
#   MEMORY=8GB            of the engine's store (the setting "memory")
#   REPETITIONS=3         of each measure        WARMUPS=1   turns that are not measured
#   CANCELS=50            of each kind of copy
#   SETTINGS=             of the endpoint, as "scheduler_pin_workers=on"
#   ENDPOINT_OPTIONS=     of the JVM, as -XX:+FlagsFinal; their effect is part of the result
. "$(dirname "$0")/lib.sh"

ROWS=${ROWS:-csv parquet arrow workers parquetdump arrowdump beside cancel large}
TABLE_ROWS=${TABLE_ROWS:-10000000}
find_java
find_postgres
"$ROOT/.make/stage.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
install -m 644 "$ROOT"/ipc-endpoint/benchmarks/target/kakehashi-benchmarks-*-SNAPSHOT.jar "$RUN_DIR/lib/kakehashi-benchmarks.jar"
install -m 644 "$ROOT"/ipc-endpoint/benchmarks/target/peer/HdrHistogram-*.jar "$RUN_DIR/lib/hdrhistogram.jar"
out=$ROOT/target/bench-bulk
home=$RUN_DIR/bench-bulk
runtime_dir=/dev/shm/kakehashi-bench-bulk-$$
mkdir -p "$out"

. "$ROOT/.make/duckdb.sh"

step "servers"
end_servers_with_script "$home"
server_mkdir "$home/files"
settings=(--set "memory=${MEMORY:-8GB}" --set "bulk_locations=files:$home/files:readwrite")
for setting in ${SETTINGS:-}; do
  settings+=(--set "$setting")
done
export JDK_JAVA_OPTIONS=${ENDPOINT_OPTIONS:-}
start_endpoint "$home/endpoint" "$runtime_dir" "${settings[@]}"
unset JDK_JAVA_OPTIONS
start_postgres "$home/pg" 54700 shared_buffers=256MB max_wal_size=4GB
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
PGPORT=$(cat "$home/pg/port")

step "results"
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, DuckDB %s, medians of %s, %s rows%s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "$DUCKDB_VERSION" "${REPETITIONS:-3}" "$TABLE_ROWS" "${SETTINGS:+, $SETTINGS}"
  # shellcheck disable=SC2086 # the rows are words
  java_in -Dbench.tableRows="$TABLE_ROWS" -Dbench.largeRows="${LARGE_ROWS:-8500000}" -Dbench.repetitions="${REPETITIONS:-3}" \
    -Dbench.warmUps="${WARMUPS:-1}" -Dbench.cancels="${CANCELS:-50}" -Dbench.files="$home/files" \
    -Dslf4j.provider=org.slf4j.simple.SimpleServiceProvider -Dslf4j.internal.verbosity=WARN \
    -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-tools.jar:$RUN_DIR/lib/kakehashi-endpoint.jar:$RUN_DIR/lib/hdrhistogram.jar:$DUCKDB" \
    dev.kakehashi.benchmarks.bulk.BulkBenchmark "$runtime_dir" "$(endpoint_pid "$home/endpoint")" $ROWS
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
