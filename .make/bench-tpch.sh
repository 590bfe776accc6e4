#!/usr/bin/env bash
# make bench-tpch: TPC-H's queries over foreign tables against the same queries over heap tables, in one PostgreSQL and one session each,
# taking turns. Prints medians and ratios; kept in target/bench-tpch/.
#   SCALE=0.1           QUERIES="1 2 ... 22"
#   REPETITIONS=5       turns that are measured      WARMUPS=3   turns before them
. "$(dirname "$0")/lib.sh"

SCALE=${SCALE:-0.1}
QUERIES=${QUERIES:-$(seq -s ' ' 22)}
REPETITIONS=${REPETITIONS:-5}
WARMUPS=${WARMUPS:-3}
find_java
find_postgres
"$ROOT/.make/stage.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
out=$ROOT/target/bench-tpch
home=$RUN_DIR/bench-tpch
runtime_dir=/dev/shm/kakehashi-bench-tpch-$$
rm -rf "$out" && mkdir -p "$out"

. "$ROOT/.make/tpch.sh"

step "servers"
end_servers_with_script "$home"
start_endpoint "$home/endpoint" "$runtime_dir"
start_postgres "$home/pg" 54800 shared_buffers=256MB max_wal_size=4GB
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
PGPORT=$(cat "$home/pg/port")

step "TPC-H at scale $SCALE"
load_tpch
{
  printf "CREATE EXTENSION kakehashi_fdw;\nCREATE SCHEMA kakehashi;\n"
  printf "CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '%s');\n" "$runtime_dir"
  printf "CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;\n"
  printf "IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO kakehashi;\n"
  sed "s/\(.*[^;]\);*$/SELECT kakehashi_execute('kakehashi', '\1') \\\\gset/" <<<"$TPCH_INDEXES"
  printf "SELECT kakehashi_execute('kakehashi', 'ANALYZE') \\\\gset\n"
} | sql

# One session runs all; \timing says milliseconds, and a mark before it whose they are.
statements() {
  local number turn schema
  printf '\\o /dev/null\n'
  for number in $QUERIES; do
    tpch_query "$number" >"$out/$number.sql"
    for turn in $(seq $((WARMUPS + REPETITIONS))); do
      for schema in public kakehashi; do
        printf 'SET search_path = %s;\n\\echo mark %s %s %s\n\\timing on\n' "$schema" "$schema" "$number" "$turn"
        cat "$out/$number.sql"
        printf ';\n\\timing off\n'
      done
    done
    # Plans, to look at when a figure surprises.
    printf '\\o %s\nEXPLAIN (ANALYZE, VERBOSE, COSTS OFF)\n%s\n;\n\\o /dev/null\n' "$out/$number.plan" "$(cat "$out/$number.sql")"
  done
}

step "results"
measured_from=$(processor_ticks)
statements >"$out/statements.sql"
sql -f "$out/statements.sql" >"$out/times"
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, TPC-H at scale %s, medians of %s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "$SCALE" "$REPETITIONS"
  awk -v warmups="$WARMUPS" '
    $1 == "mark" {schema = $2; query = $3; turn = $4}
    $1 == "Time:" && turn > warmups {print schema, query, $2}' "$out/times" | sort -k1,1 -k2,2n -k3,3n | awk -v n="$REPETITIONS" '
    {v[$1, $2, ++count[$1, $2]] = $3; if (!seen[$2]++) queries[++many] = $2}
    function median(schema, q) {return n % 2 ? v[schema, q, (n + 1) / 2] : (v[schema, q, n / 2] + v[schema, q, n / 2 + 1]) / 2}
    function line(name, h, k) {printf "%-12s %10.1f ms %10.1f ms %8.2f\n", name, h, k, k / h}
    END {
      printf "%-12s %13s %13s %8s\n", "", "heap", "kakehashi", "kake/h"
      for (i = 1; i <= many; i++) {
        q = queries[i]; h = median("public", q); k = median("kakehashi", q); heap += h; kake += k
        line("query " q, h, k)
        if (k / h > worst) {worst = k / h; slowest = q}
      }
      line("sum", heap, kake)
      printf "slowest against heap: query %s, %.2f (goals: none above 2, the sum at most 1)\n", slowest, worst
    }'
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
