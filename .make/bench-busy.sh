# Rows of make bench where the processors are wanted by others: many clients, two processes beside that compute all the time, sysbench.
# Sourced by bench.sh. A figure is the mean of a run, because times have two humps where a slice has to be waited for; printed is the median of the runs.
# Processor time is that of the servers, kernel included: PostgreSQL, the second PostgreSQL of postgres_fdw, endpoint; of the client it is not.
# Connections are in it, and so are a few microseconds per statement of 64 clients.

hogs=()

# Each in a session of its own, as another daemon would be: the kernel may schedule sessions as groups.
start_hogs() {
  local i
  for i in 1 2; do
    setsid sh -c 'while :; do :; done' &
    hogs+=($!)
  done
}

end_hogs() {
  local hog
  for hog in "${hogs[@]}"; do
    kill "$hog" && wait "$hog" 2>/dev/null || true # its status says that it was killed
  done
  hogs=()
}

postmaster() { head -1 "$home/$1/data/postmaster.pid"; }
children() { pgrep -c -P "$(postmaster pg),$(postmaster remote)"; }
backends_gone() { [ "$(children)" -le "$idle_children" ]; }

# Milliseconds of processor time that the servers have used. A backend's are its postmaster's when it has ended.
servers_millis() {
  wait_until 10 backends_gone || true # a worker of autovacuum may be there for longer
  awk -v hz="$(getconf CLK_TCK)" '{t += $14 + $15; if (FILENAME !~ endpoint) t += $16 + $17} END {printf "%d\n", t * 1000 / hz}' \
    endpoint="/$(endpoint_pid "$home/endpoint")/" "/proc/$(postmaster pg)/stat" "/proc/$(postmaster remote)/stat" "/proc/$(endpoint_pid "$home/endpoint")/stat"
}

# load_pgbench SCRIPT CLIENTS SCHEMA: mean latency in microseconds, processor time of a statement in microseconds.
load_pgbench() {
  local log=$out/$1-$2-$3-busy.out before
  before=$(servers_millis)
  PGOPTIONS="-c search_path=$3" "$pgbench" -n -M prepared -c "$2" -j "$2" -T "$SECONDS_PER_RUN" -f "$scripts/$1.sql" >"$log" 2>&1 ||
    printf '   %s over %s failed, see %s\n' "$1" "$3" "$log" >&2
  awk -v cpu=$(($(servers_millis) - before)) '/^latency average/ {l = $4 * 1000} /^number of transactions actually/ {n = $6 + 0}
    END {if (n) print l, cpu * 1000 / n; else print "- -"}' "$log"
}

# load_sysbench TEST THREADS SCHEMA: microseconds between two transactions' ends, processor time of a transaction in microseconds.
load_sysbench() {
  local log=$out/$1-$2-$3-sysbench.out before
  before=$(servers_millis)
  # Options of a connection come from the environment: the tool knows a table, no schema.
  PGOPTIONS="-c search_path=$3" sysbench "$1" --db-driver=pgsql --pgsql-host="$PGHOST" --pgsql-port="$PGPORT" --pgsql-user=postgres \
    --pgsql-db=postgres --tables=1 --table-size="$SYSBENCH_ROWS" --threads="$2" --time="$SECONDS_PER_RUN" run >"$log" 2>&1 ||
    printf '   %s over %s failed, see %s\n' "$1" "$3" "$log" >&2
  awk -v cpu=$(($(servers_millis) - before)) '$1 == "transactions:" {n = $2; gsub(/[^0-9.]/, "", $3); rate = $3}
    END {if (n && rate) print 1000000 / rate, cpu * 1000 / n; else print "- -"}' "$log"
}

# The schemas take turns; the first turn warms up. Each measure prints two figures, and each has a line.
compare_loads() { # label, turns that warm up, measure...
  local label=$1 warmup=$2 turn schema
  local -A times cpus
  shift 2
  for schema in heap pgfdw kakehashi; do times[$schema]= cpus[$schema]=; done
  row_began=$(processor_ticks)
  for turn in $(seq $((warmup + ROUNDS))); do
    for schema in heap pgfdw kakehashi; do
      # shellcheck disable=SC2046 # two words
      set_pair $("$@" "$schema")
      [ "$turn" -le "$warmup" ] || { times[$schema]+="$pair_time"$'\n' cpus[$schema]+="$pair_cpu"$'\n'; }
    done
  done
  for schema in heap pgfdw kakehashi; do
    times[$schema]=$(printf %s "${times[$schema]}" | median)
    cpus[$schema]=$(printf %s "${cpus[$schema]}" | median)
  done
  report "$label" "${times[heap]}" "${times[pgfdw]}" "${times[kakehashi]}"
  report "  processor time" "${cpus[heap]}" "${cpus[pgfdw]}" "${cpus[kakehashi]}"
}
set_pair() { pair_time=$1 pair_cpu=$2; }

quiet_and_busy() { # label, turns that warm up, measure...
  local label=$1
  shift
  [[ " $LOADS " != *" quiet "* ]] || compare_loads "$label, quiet" "$@"
  [[ " $LOADS " == *" busy "* ]] || return 0
  start_hogs
  compare_loads "$label, busy" "$@"
  end_hogs
}

busy_rows() {
  local clients
  for clients in $CLIENTS; do quiet_and_busy "select by key, $clients clients" 1 load_pgbench point-select "$clients"; done
}

busy_write_rows() {
  local clients
  for clients in 1 16; do
    quiet_and_busy "insert of one row, $clients clients" 3 load_pgbench insert-one "$clients"
    quiet_and_busy "update of one row, $clients clients" 3 load_pgbench update-one "$clients"
  done
}

# Its own "prepare" knows no foreign tables.
sysbench_tables() {
  local schema
  local columns="id int4 PRIMARY KEY, k int4 NOT NULL, c char(120) NOT NULL, pad char(60) NOT NULL"
  sql -c "CREATE TABLE heap.sbtest1 ($columns)" -c "CREATE INDEX ON heap.sbtest1 (k)" \
    -c "SELECT kakehashi_execute('kakehashi', 'CREATE TABLE bench.sbtest1 ($columns)')" \
    -c "SELECT kakehashi_execute('kakehashi', 'CREATE INDEX sbtest1_k ON bench.sbtest1 (k)')" >/dev/null
  remote -c "CREATE TABLE bench.sbtest1 ($columns)" -c "CREATE INDEX ON bench.sbtest1 (k)"
  sql -c "IMPORT FOREIGN SCHEMA bench LIMIT TO (sbtest1) FROM SERVER remote INTO pgfdw" \
    -c "IMPORT FOREIGN SCHEMA bench LIMIT TO (sbtest1) FROM SERVER kakehashi INTO kakehashi"
  for schema in heap pgfdw kakehashi; do
    sql -c "INSERT INTO $schema.sbtest1 SELECT i, 1 + i::int8 * 7919 % $SYSBENCH_ROWS,
      (SELECT string_agg(lpad((i::int8 * p * 7919 % 99999999999)::text, 11, '0'), '-') FROM generate_series(1, 10) p),
      (SELECT string_agg(lpad((i::int8 * p * 104729 % 99999999999)::text, 11, '0'), '-') FROM generate_series(1, 5) p)
      FROM generate_series(1, $SYSBENCH_ROWS) i" -c "ANALYZE $schema.sbtest1"
  done
  remote -c 'VACUUM ANALYZE bench.sbtest1'
}

sysbench_rows() {
  local test threads
  command -v sysbench >/dev/null || die "sysbench is not installed" "Install Debian's package sysbench, or leave the row \"sysbench\" out."
  sysbench_tables
  for test in $SYSBENCH_TESTS; do
    for threads in $SYSBENCH_THREADS; do quiet_and_busy "sysbench $test, $threads threads" 1 load_sysbench "$test" "$threads"; done
  done
}
