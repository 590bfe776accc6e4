#!/usr/bin/env bash
# make bench-engine: the engine through the Java client against PostgreSQL's heap through psql and pgbench, and against DuckDB in memory,
# taking turns in one run, fsync on. Prints medians, ratios (how many times as fast as heap) and goals; kept in target/bench-engine/.
#   ROWS=               of the printed table, all without: bulk select scan aggregate readers stored tpch duckdb memory available restart
#   TABLE_ROWS=1000000  of the tables            RESTART_ROWS=10000000   of the table of the restart
#   SCALE=0.1           of TPC-H; its goal is for 1, which takes some minutes to load and MEMORY=8GB
#   MEMORY=1GB          of the engine's store (the setting "memory")
#   SECONDS_PER_RUN=3   of each rate             REPETITIONS=5   of each measure
#   WARMUP_SECONDS=20   before rates: the endpoint's compilers work that long    WARMUPS=5   turns of long statements that are not measured
#   SETTINGS=           of the endpoint, as "scheduler_pin_workers=on scheduler_local_order=fifo"
#   ENDPOINT_OPTIONS=   of the JVM, as -XX:+FlagsFinal; their effect is part of the result
. "$(dirname "$0")/lib.sh"

ROWS=${ROWS:-bulk select scan aggregate readers stored tpch duckdb memory available restart}
SECONDS_PER_RUN=${SECONDS_PER_RUN:-3}
REPETITIONS=${REPETITIONS:-5}
TABLE_ROWS=${TABLE_ROWS:-1000000}
RESTART_ROWS=${RESTART_ROWS:-10000000}
SCALE=${SCALE:-0.1}
MEMORY=${MEMORY:-1GB}
find_java
find_postgres
"$ROOT/.make/stage.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
install -m 644 "$ROOT"/ipc-endpoint/benchmarks/target/kakehashi-benchmarks-*-SNAPSHOT.jar "$RUN_DIR/lib/kakehashi-benchmarks.jar"
out=$ROOT/target/bench-engine
home=$RUN_DIR/bench-engine
runtime_dir=/dev/shm/kakehashi-bench-engine-$$
mkdir -p "$out"

settings=(--set "memory=$MEMORY")
for setting in ${SETTINGS:-}; do
  settings+=(--set "$setting")
done

duckdb=
if [[ " $ROWS " == *" duckdb "* ]]; then
  . "$ROOT/.make/duckdb.sh"
  duckdb=:$DUCKDB
fi

wanted() { [[ " $ROWS " == *" $1 "* ]]; }
bench() { # class argument...
  java_in -Dbench.tableRows="$TABLE_ROWS" -Dbench.seconds="$SECONDS_PER_RUN" -Dbench.repetitions="$REPETITIONS" \
    -Dbench.warmUpSeconds="${WARMUP_SECONDS:-20}" -Dbench.warmUps="${WARMUPS:-5}" -Dbench.began="${began:-0}" \
    -Dbench.pgbench="$("$PG_CONFIG" --bindir)/pgbench" -Dbench.directory="$home" -Dbench.tpchQueries="$home/tpch" \
    -Dslf4j.provider=org.slf4j.simple.SimpleServiceProvider -Dslf4j.internal.verbosity=WARN \
    -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-tools.jar:$RUN_DIR/lib/kakehashi-endpoint.jar$duckdb" \
    "dev.kakehashi.benchmarks.engine.$1" "${@:2}"
}
. "$ROOT/.make/tpch.sh"

prepare_tpch() {
  local number
  server_mkdir "$home/tpch"
  load_tpch
  if wanted memory; then
    "$("$PG_CONFIG" --bindir)/pgbench" --initialize --quiet --scale 3 2>"$out/pgbench.log"
    bench EngineBenchmark "$runtime_dir" execute "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84));
      INSERT INTO pgbench_accounts SELECT g, (g - 1) / 100000 + 1, 0, '' FROM generate_series(1, 300000) g"
    bench EngineBenchmark "$runtime_dir" memory >"$out/memory.txt"
  fi
  tpch ddl --schema public | sed -e 's/, PRIMARY KEY ([^)]*))/)/' -e 's/public\.//' | as_server tee "$home/tpch/tables.sql" >/dev/null
  bench EngineBenchmark "$runtime_dir" execute "$TPCH_INDEXES; ANALYZE"
  for number in $(seq 22); do
    # date('...') is a cast that the engine does not have.
    tpch_query "$number" | sed "s/date(\('[^']*'\))/DATE \1/g" | as_server tee "$home/tpch/$number.sql" >/dev/null
  done
}

step "servers"
end_servers_with_script "$home"
export JDK_JAVA_OPTIONS=${ENDPOINT_OPTIONS:-}
start_endpoint "$home/endpoint" "$runtime_dir" "${settings[@]}"
unset JDK_JAVA_OPTIONS
start_postgres "$home/pg" 54700 shared_buffers=256MB max_wal_size=4GB
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
PGPORT=$(cat "$home/pg/port")
if wanted tpch || wanted duckdb || wanted memory; then
  step "TPC-H at scale $SCALE"
  prepare_tpch
fi

step "results"
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, medians of %s, TPC-H at scale %s%s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "$REPETITIONS" "$SCALE" "${SETTINGS:+, $SETTINGS}"
  bench Report
  read -ra client_rows <<<"$(tr ' ' '\n' <<<"$ROWS" | grep -vxE 'available|restart|memory' | tr '\n' ' ')"
  [ ${#client_rows[@]} = 0 ] || bench EngineBenchmark "$runtime_dir" run "${client_rows[@]}"
  if wanted memory; then
    cat "$out/memory.txt"
  fi
  if wanted restart; then
    bench EngineBenchmark "$runtime_dir" fill "$RESTART_ROWS"
    stop_endpoint "$home/endpoint" >/dev/null
    began=$(now_millis)
    start_endpoint "$home/endpoint" "$runtime_dir" "${settings[@]}"
    bench EngineBenchmark "$runtime_dir" answer "$RESTART_ROWS"
  fi
  if wanted available; then
    stop_endpoint "$home/endpoint" >/dev/null
    bench AvailableCommits "$home/inner"
  fi
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
