#!/usr/bin/env bash
# make bench: the same tables three times in one PostgreSQL - heap, postgres_fdw to a second server, Kakehashi - and the same
# statements over each. fsync is on everywhere. Prints medians, ratios to heap, and the share of the processors' time that other
# guests of the host took during the row: where that is much, the row says little. Everything is in target/bench/.
#   ROWS=               of the printed table, all without: select range scan aggregate wide join order lookup insert update
#                       transaction fill session transport busy writes sysbench
#   SECONDS_PER_RUN=3   length of each pgbench run          REPETITIONS=7   of each long statement
#   ROUNDS=3            runs over each schema, in turn, after those that warm up
# Of the last three rows (bench-busy.sh):
#   LOADS="quiet busy"  busy: two processes beside compute all the time      CLIENTS="1 4 16 64"   of selects
#   SYSBENCH_TESTS="oltp_point_select oltp_read_only oltp_read_write"        SYSBENCH_THREADS="1 8 64"   SYSBENCH_ROWS=100000
. "$(dirname "$0")/lib.sh"

SECONDS_PER_RUN=${SECONDS_PER_RUN:-3}
REPETITIONS=${REPETITIONS:-7}
ROUNDS=${ROUNDS:-3}
ALL_ROWS="select range scan aggregate wide join order lookup insert update transaction fill session transport busy writes sysbench"
ROWS=${ROWS:-$ALL_ROWS}
for row in $ROWS; do
  [[ " $ALL_ROWS " == *" $row "* ]] || die "the table has no row \"$row\"" "ROWS may have: $ALL_ROWS."
done
LOADS=${LOADS:-quiet busy}
CLIENTS=${CLIENTS:-1 4 16 64}
SYSBENCH_TESTS=${SYSBENCH_TESTS:-oltp_point_select oltp_read_only oltp_read_write}
SYSBENCH_THREADS=${SYSBENCH_THREADS:-1 8 64}
SYSBENCH_ROWS=${SYSBENCH_ROWS:-100000}
# A JVM compiles what a durable change runs through after some 60,000 of them.
DURABLE_WARMUP_ROUNDS=9
TABLE_ROWS=1000000
find_java
find_postgres
"$ROOT/.make/stage.sh"
"$ROOT/.make/train.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
. "$ROOT/.make/bench-busy.sh"
scripts=$ROOT/ipc-endpoint/benchmarks/pgbench
out=$ROOT/target/bench
home=$RUN_DIR/bench
runtime_dir=/dev/shm/kakehashi-bench-$$
pgbench=$("$PG_CONFIG" --bindir)/pgbench
rm -rf "$out" && mkdir -p "$out"

end_others() {
  end_hogs
  # It may have ended by itself; killed, its status says so.
  [ -z "${bare_pid:-}" ] || { kill "$bare_pid" && wait "$bare_pid"; } 2>/dev/null || true
  rm -rf "$runtime_dir-bare"
}

idle_cost() { # process: percent of one core over 5 s, resident MB
  local before after
  before=$(awk '{print $14 + $15}' "/proc/$1/stat")
  sleep 5 # the measurement itself
  after=$(awk '{print $14 + $15}' "/proc/$1/stat")
  awk -v d=$((after - before)) -v hz="$(getconf CLK_TCK)" -v rss="$(awk '/^VmRSS/ {print $2}' "/proc/$1/status")" \
    'BEGIN {printf "%.1f %% of one core idle, %d MB resident", d / hz / 5 * 100, rss / 1024}'
}

step "servers"
end_servers_with_script "$home"
start_endpoint "$home/endpoint" "$runtime_dir"
start_postgres "$home/remote" 54500 shared_buffers=256MB max_wal_size=4GB
# Preloaded as README.md tells, which a new session has 1 ms from.
start_postgres "$home/pg" 54600 shared_buffers=256MB max_wal_size=4GB shared_preload_libraries=kakehashi_fdw
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
PGPORT=$(cat "$home/pg/port")
remote() { PGHOST=$home/remote/socket PGPORT=$(cat "$home/remote/port") sql "$@"; }

TABLES="CREATE TABLE %s.numbers (id int8 PRIMARY KEY, grp int4, val int4);
CREATE TABLE %s.accounts (id int8 PRIMARY KEY, balance int8);
CREATE TABLE %s.events (id int8 PRIMARY KEY, val int4);
CREATE TABLE %s.copies (id int8 PRIMARY KEY, grp int4, val int4);
CREATE TABLE %s.groups (id int4 PRIMARY KEY, name text);
CREATE TABLE %s.wide (c01 int8 PRIMARY KEY, c02 int4, c03 int4, c04 int8, c05 numeric(12,2), c06 float8, c07 date, c08 timestamp,
  c09 bool, c10 text, c11 text, c12 varchar(20), c13 int2, c14 int4, c15 int8, c16 numeric(12,2), c17 float8, c18 timestamptz, c19 text, c20 uuid);"
WIDE_ROWS="SELECT i, i % 1000, i % 7, i * 31, i * 1.25, i / 3.0, date '2020-01-01' + (i % 1000)::int, timestamp '2020-01-01' + i * interval '1 minute',
  i % 2 = 0, 'text ' || i, repeat('x', (i % 30)::int), 'name ' || i % 100, i % 100, i, i, i % 777, sqrt(i), timestamptz '2020-01-01 00:00Z' + i * interval '1 second',
  md5(i::text), md5(i::text)::uuid FROM generate_series(1::int8, 200000) i"

empty_cost=$(idle_cost "$(endpoint_pid "$home/endpoint")")
step "tables: $TABLE_ROWS rows in each schema"
# One call of kakehashi_execute() per table.
ENGINE_TABLES=$(printf '%s' "${TABLES//%s/bench}" | tr '\n' ' ' | sed "s/ *; */;\n/g" | sed "s/\(.*\);/SELECT kakehashi_execute('kakehashi', '\1') \\\\gset/")
printf 'CREATE SCHEMA heap;'"${TABLES//%s/heap}" | sql
printf 'CREATE SCHEMA bench;'"${TABLES//%s/bench}" | remote
sql <<SQL
CREATE EXTENSION postgres_fdw;
CREATE SERVER remote FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host '$home/remote/socket', port '$(cat "$home/remote/port")', dbname 'postgres', fetch_size '10000', batch_size '1000');
CREATE USER MAPPING FOR CURRENT_USER SERVER remote OPTIONS (user 'postgres', password_required 'false');
CREATE SCHEMA pgfdw;
IMPORT FOREIGN SCHEMA bench FROM SERVER remote INTO pgfdw;
CREATE EXTENSION kakehashi_fdw;
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir');
CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;
SELECT kakehashi_execute('kakehashi', 'CREATE SCHEMA bench') \\gset
${ENGINE_TABLES}
CREATE SCHEMA kakehashi;
IMPORT FOREIGN SCHEMA bench FROM SERVER kakehashi INTO kakehashi;
CREATE TABLE keys AS SELECT (i * 997)::int8 AS id FROM generate_series(1, 1000) i;
CREATE TABLE source AS SELECT i AS id, (i % 10)::int4 AS grp, (i * 7919 % 100000)::int4 AS val FROM generate_series(1::int8, 200000) i;
SQL
for schema in heap pgfdw kakehashi; do
  began=$(now_millis)
  sql -c "INSERT INTO $schema.numbers SELECT i, i % 10, i * 7919 % 100000 FROM generate_series(1::int8, $TABLE_ROWS) i" \
    -c "INSERT INTO $schema.accounts SELECT i, 1000 FROM generate_series(1::int8, 100000) i" \
    -c "INSERT INTO $schema.groups SELECT i, 'group ' || i % 50 FROM generate_series(0, 999) i" \
    -c "INSERT INTO $schema.wide $WIDE_ROWS"
  say "   $schema loaded in $(elapsed "$began")"
done
sql -c 'VACUUM ANALYZE' -c 'ANALYZE pgfdw.numbers, pgfdw.wide, pgfdw.groups' -c 'ANALYZE kakehashi.numbers, kakehashi.wide, kakehashi.groups'
sql -c "COPY source TO '$home/source.copy'"
remote -c 'VACUUM ANALYZE'

median() { sort -n | awk '{v[NR] = $1} END {if (NR) print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2); else print "-"}'; }

# run_pgbench SCRIPT SCHEMA CLIENTS LIMIT...: median latency of one script in microseconds.
run_pgbench() {
  local script=$1 schema=$2 clients=$3 log=$out/$1-$2-$3
  shift 3
  if ! PGOPTIONS="-c search_path=$schema" "$pgbench" -n -M prepared -c "$clients" -j "$clients" "$@" -l --log-prefix="$log" \
    -f "$scripts/$script.sql" >"$log.out" 2>&1; then
    printf '   %s over %s failed, see %s\n' "$script" "$schema" "$log.out" >&2
  fi
  # client transaction latency_us script epoch us
  cat "$log".[0-9]* 2>/dev/null | awk '{print $3}' | median
  rm -f "$log".[0-9]*
}

# A new process of psql, a new session, one query; wall time in microseconds.
new_session() { # schema
  local began
  began=$(date +%s%N)
  PGOPTIONS="-c search_path=$1" sql -Atc 'SELECT grp FROM numbers WHERE id = 77' >/dev/null || return
  echo $((($(date +%s%N) - began) / 1000))
}

# One statement that fills "copies", auto-committed; emptying it again is not measured. Microseconds.
fill() { # schema statement
  local began
  began=$(date +%s%N)
  sql -c "$2" || return
  echo $((($(date +%s%N) - began) / 1000))
  sql -c "DELETE FROM $1.copies"
}

insert_select() { fill "$1" "INSERT INTO $1.copies SELECT id, grp, val FROM public.source"; }
copy_from() { fill "$1" "COPY $1.copies FROM '$home/source.copy'"; }

report() { # label heap pgfdw kakehashi, in microseconds; the row began at $row_began
  awk -v l="$1" -v h="$2" -v p="$3" -v k="$4" -v b="$row_began" -v e="$(processor_ticks)" '
    function t(v) {if (v == "-" || v == "") return "-"; return v >= 10000 ? sprintf("%.1f ms", v / 1000) : sprintf("%.0f us", v)}
    function r(v) {return v == "-" || v == "" || h == "-" || h + 0 == 0 ? "-" : sprintf("%.2f", v / h)}
    BEGIN {split(b, x); split(e, y); ticks = y[1] - x[1]; if (ticks < 1) ticks = 1
      printf "%-44s %11s %13s %11s %9s %9s %5.0f %%\n", l, t(h), t(p), t(k), r(p), r(k), (y[2] - x[2]) / ticks * 100}' | tee -a "$out/results.txt"
}

# The schemas take turns, because disks and neighbours change by the minute. Of more than one turn that warms up, the first has a line of its own.
compare_turns() { # label, turns that warm up, turns, command that measures a schema once
  local label=$1 warmup=$2 turns=$3 schema turn one
  local -A value first
  shift 3
  for schema in heap pgfdw kakehashi; do value[$schema]=; done
  row_began=$(processor_ticks)
  for turn in $(seq $((warmup + turns))); do
    for schema in heap pgfdw kakehashi; do
      one=$("$@" "$schema")
      [ "$turn" -gt 1 ] || first[$schema]=$one
      [ "$turn" -le "$warmup" ] || value[$schema]+="$one"$'\n'
    done
  done
  [ "$warmup" -le 1 ] || report "  the first $SECONDS_PER_RUN s" "${first[heap]}" "${first[pgfdw]}" "${first[kakehashi]}"
  for schema in heap pgfdw kakehashi; do value[$schema]=$(printf %s "${value[$schema]}" | median); done
  report "$label" "${value[heap]}" "${value[pgfdw]}" "${value[kakehashi]}"
}

# Short statements, many. Servers run for weeks: what is compared is not the first seconds of a JVM.
compare() { # label script clients [rounds that warm up]
  compare_turns "$1" "${4:-1}" "$ROUNDS" short_statements "$2" "$3"
}
short_statements() { run_pgbench "$1" "$3" "$2" -T "$SECONDS_PER_RUN"; } # script clients schema

# Long statements, few.
compare_long() { # label script
  row_began=$(processor_ticks)
  report "$1" "$(run_pgbench "$2" heap 1 -t "$REPETITIONS")" "$(run_pgbench "$2" pgfdw 1 -t "$REPETITIONS")" \
    "$(run_pgbench "$2" kakehashi 1 -t "$REPETITIONS")"
}

wanted() { [[ " $ROWS " == *" $1 "* ]]; }

step "results"
idle_children=$(children)
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, medians of %s runs of %s s in turn\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "$ROUNDS" "$SECONDS_PER_RUN"
  printf '%-44s %11s %13s %11s %9s %9s %7s\n' '' heap postgres_fdw kakehashi 'pgfdw/h' 'kake/h' taken
} | tee "$out/results.txt"
if wanted select; then
  compare "select by key, prepared, 1 client" point-select 1
  compare "select by key, prepared, 4 clients" point-select 4
fi
if wanted range; then compare "range of 100 rows" range-100 1; fi
if wanted scan; then compare_long "scan of 1M rows into a local aggregate" scan-1m; fi
if wanted aggregate; then
  compare_long "aggregate of 1M rows in 10 groups" aggregate-10-groups
  row_began=$(processor_ticks)
  report "  the same through kakehashi_query()" "$(run_pgbench aggregate-10-groups heap 1 -t "$REPETITIONS")" - \
    "$(run_pgbench aggregate-query-function kakehashi 1 -t "$REPETITIONS")"
fi
if wanted wide; then compare_long "scan of 200k rows of 20 columns" scan-wide; fi
if wanted join; then compare_long "join of 200k x 1,000 rows with aggregate" join-aggregate; fi
if wanted order; then compare_long "order by ... limit 10 of 1M rows, no index" top-10; fi
if wanted lookup; then compare_long "1,000 local keys joined by primary key" key-lookup; fi
if wanted insert; then
  compare "insert of one row, durable, 1 client" insert-one 1 "$DURABLE_WARMUP_ROUNDS"
  compare "insert of one row, durable, 4 clients" insert-one 4
fi
if wanted update; then compare "update of one row, durable, 1 client" update-one 1; fi
if wanted transaction; then compare "transaction of 10 statements, 1 client" transaction-10 1; fi
if wanted fill; then
  compare_turns "insert ... select of 200k rows" 0 3 insert_select
  compare_turns "copy from of 200k rows" 0 3 copy_from
fi
if wanted session; then compare_turns "new psql session and one query" 0 31 new_session; fi
if wanted busy; then busy_rows; fi
if wanted writes; then busy_write_rows; fi
if wanted sysbench; then sysbench_rows; fi
say "$(shared_since "$measured_from")" | tee -a "$out/results.txt"
say "endpoint with an empty store: $empty_cost" | tee -a "$out/results.txt"
say "endpoint with these tables: $(idle_cost "$(endpoint_pid "$home/endpoint")")" | tee -a "$out/results.txt"
if ! wanted transport; then
  say "kept in $out/results.txt"
  exit 0
fi
# The transport alone: its endpoint says when a ping arrived, so that the ways there and back can be told apart.
install -m 644 "$ROOT"/ipc-endpoint/benchmarks/target/kakehashi-benchmarks-*-SNAPSHOT.jar "$RUN_DIR/lib/kakehashi-benchmarks.jar"
bare=$runtime_dir-bare
exec_as_server "$JAVA_HOME/bin/java" "@$RUN_DIR/lib/jvm.options" \
  -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-endpoint.jar" dev.kakehashi.benchmarks.BareEndpoint "$bare" \
  >"$out/bare.log" 2>&1 </dev/null &
bare_pid=$!
bare_listens() { [ ! -d "/proc/$bare_pid" ] || grep -q " 00010000 .* $bare/endpoint.sock\$" /proc/net/unix; }
wait_until 60 bare_listens && [ -d "/proc/$bare_pid" ] || die "could not start the bare endpoint" "Its log is $out/bare.log."
say "bare transport, C client:" | tee -a "$out/results.txt"
for _ in 1 2 3; do as_server "$RUN_DIR/lib/kh_ping" "$bare" 100000 64 ways | tee -a "$out/results.txt"; done
say "kept in $out/results.txt"
