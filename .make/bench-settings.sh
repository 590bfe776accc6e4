#!/usr/bin/env bash
# make bench-settings: what watchdog, preemption and the limits of a session cost a select by key. One endpoint for each setting
# and one PostgreSQL, all at the same time; short pgbench runs over them in turn. Prints medians of the runs' median
# latencies and ratios to the defaults.
#   SECONDS_PER_RUN=3   length of each run          ROUNDS=7   runs over each endpoint          TABLE_ROWS=100000
#   WARMUP_SECONDS=10   of each endpoint            VARIANTS="defaults no_watchdog limits no_metrics"
. "$(dirname "$0")/lib.sh"

SECONDS_PER_RUN=${SECONDS_PER_RUN:-3}
ROUNDS=${ROUNDS:-7}
TABLE_ROWS=${TABLE_ROWS:-100000}
WARMUP_SECONDS=${WARMUP_SECONDS:-10}
read -ra VARIANTS <<<"${VARIANTS:-defaults no_watchdog limits no_metrics}"
settings() { # variant: options of the endpoint
  case "$1" in
    defaults | no_metrics) ;;
    no_watchdog) printf '%s\n' -s scheduler_preempt_after=0ms -s scheduler_hang_after=0ms ;;
    limits) printf '%s\n' -s session_rate=1000000 -s session_bucket_size=100000 -s session_max_concurrent_requests=100 ;;
    *) die "no variant \"$1\"" ;;
  esac
}
find_java
find_postgres
"$ROOT/.make/stage.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
home=$RUN_DIR/bench-settings
out=$ROOT/target/bench-settings
pgbench=$("$PG_CONFIG" --bindir)/pgbench
rm -rf "$out" && mkdir -p "$out"

step "servers"
end_servers_with_script "$home"
for variant in "${VARIANTS[@]}"; do
  mapfile -t options < <(settings "$variant")
  # The JVM itself has no setting for it: see scheduler/README.md.
  [ "$variant" != no_metrics ] || export JDK_JAVA_OPTIONS=-Dscheduler.metrics=false
  start_endpoint "$home/$variant" "/dev/shm/kakehashi-settings-$$-$variant" "${options[@]}"
  unset JDK_JAVA_OPTIONS
done
start_postgres "$home/pg" 54700
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
PGPORT=$(cat "$home/pg/port")
sql -c 'CREATE EXTENSION kakehashi_fdw'
for variant in "${VARIANTS[@]}"; do
  sql <<SQL
CREATE SERVER $variant FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '/dev/shm/kakehashi-settings-$$-$variant');
CREATE USER MAPPING FOR CURRENT_USER SERVER $variant;
SELECT kakehashi_execute('$variant', 'CREATE SCHEMA bench') \\gset
SELECT kakehashi_execute('$variant', 'CREATE TABLE bench.numbers (id int8 PRIMARY KEY, grp int4, val int4)') \\gset
CREATE SCHEMA $variant;
IMPORT FOREIGN SCHEMA bench FROM SERVER $variant INTO $variant;
INSERT INTO $variant.numbers SELECT i, i % 10, i FROM generate_series(1::int8, $TABLE_ROWS) i;
SQL
done

median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2)}'; }

run() { # variant seconds: median latency in microseconds
  local log=$out/run
  PGOPTIONS="-c search_path=$1" "$pgbench" -n -M prepared -c 1 -T "$2" -l --log-prefix="$log" \
    -f <(sed "s/1000000/$TABLE_ROWS/" "$ROOT/ipc-endpoint/benchmarks/pgbench/point-select.sql") >"$log.out" 2>&1 ||
    { cat "$log.out" >&2; die "pgbench over $1 failed"; }
  cat "$log".[0-9]* | awk '{print $3}' | median
  rm -f "$log".[0-9]*
}

step "warm-up"
for variant in "${VARIANTS[@]}"; do run "$variant" "$WARMUP_SECONDS" >/dev/null; done
step "results"
for _ in $(seq "$ROUNDS"); do
  for variant in "${VARIANTS[@]}"; do run "$variant" "$SECONDS_PER_RUN" >>"$out/$variant"; done
done
base=$(median <"$out/defaults")
for variant in "${VARIANTS[@]}"; do
  awk -v v="$variant" -v m="$(median <"$out/$variant")" -v b="$base" -v l="$(sort -n "$out/$variant" | head -1)" \
    'BEGIN {printf "%-14s %7.1f us  x%.3f  least %.1f us\n", v, m, m / b, l}' | tee -a "$out/results.txt"
done
