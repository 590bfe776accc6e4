#!/usr/bin/env bash
# make bench-applications: procedures, functions, routes and processes of a native application against SQL by the Java client, PL/pgSQL on PostgreSQL's heap, and what the engine has
# built in, taking turns in one run, fsync on. Prints medians, ratios, processor times and goals; kept in target/bench-applications/.
#   ROWS=               of the printed table, all without: procedure lookup invoke scan process route messages
#   TABLE_ROWS=1000000  of the table of the scans    SECONDS_PER_RUN=3   of each rate     REPETITIONS=3   of each measure
#   WARMUP_SECONDS=8    before rates: the endpoint's compilers work that long
#   SETTINGS=           of the endpoint, as "scheduler_workers=2"
#   ENDPOINT_OPTIONS=   of its JVM, as -XX:StartFlightRecording=...; their effect is part of the result
. "$(dirname "$0")/lib.sh"

ROWS=${ROWS:-procedure lookup invoke scan process route messages}
. "$ROOT/.make/bench-files.sh" bench-applications
user=$(as_server id -un)

step "servers"
end_servers_with_script "$home"
KAKEHASHI_PASSWORD=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
export KAKEHASHI_PASSWORD
server_mkdir "$home/endpoint"
java_in -jar "$RUN_DIR/lib/kakehashi-endpoint.jar" user add "$user" --data-directory "$home/endpoint/data" \
  <<<"$KAKEHASHI_PASSWORD" >"$ROOT/target/user.log" 2>&1 || { cat "$ROOT/target/user.log" >&2; die "could not add the user $user"; }
http_port=$(free_port 54800)
settings=(--set "http_port=$http_port" --set memory=1GB)
for setting in ${SETTINGS:-}; do
  settings+=(--set "$setting")
done
export JDK_JAVA_OPTIONS=${ENDPOINT_OPTIONS:-}
start_endpoint "$home/endpoint" "$runtime_dir" "${settings[@]}"
unset JDK_JAVA_OPTIONS
start_postgres "$home/pg" 54700 shared_buffers=256MB max_wal_size=4GB
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres

step "results"
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, medians of %s%s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "${REPETITIONS:-3}" "${SETTINGS:+, $SETTINGS}"
  # shellcheck disable=SC2086 # the rows are words
  java_in -Dbench.tableRows="${TABLE_ROWS:-1000000}" -Dbench.seconds="${SECONDS_PER_RUN:-3}" -Dbench.repetitions="${REPETITIONS:-3}" \
    -Dbench.warmUpSeconds="${WARMUP_SECONDS:-8}" -Dbench.user="$user" \
    -Dslf4j.provider=org.slf4j.simple.SimpleServiceProvider -Dslf4j.internal.verbosity=WARN \
    -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-tools.jar:$RUN_DIR/lib/kakehashi-endpoint.jar:$RUN_DIR/lib/peer/*" \
    dev.kakehashi.benchmarks.applications.ApplicationBenchmark "$runtime_dir" "$(endpoint_pid "$home/endpoint")" "$http_port" \
    "$("$PG_CONFIG" --bindir)/pgbench" "$home" $ROWS
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
