#!/usr/bin/env bash
# make bench-rest: the HTTP door against a service of the usual kind (Jetty, HikariCP, PgJDBC, in a process of its own) over PostgreSQL's heap, taking turns
# in one run, fsync on. Prints medians, ratios (how many times as fast as the peer) and goals; kept in target/bench-rest/.
#   ROWS=               of the printed table, all without: select insert rows1m download shared polls scrape privileges
#   TABLE_ROWS=1000000  of the table             SECONDS_PER_RUN=3   of each rate     REPETITIONS=5   of each measure
#   WARMUP_SECONDS=20   before rates: the compilers of both sides work that long
#   SETTINGS=           of the endpoint, as "http_requests_per_user=2000"
. "$(dirname "$0")/lib.sh"

ROWS=${ROWS:-select insert rows1m download shared polls scrape privileges}
TABLE_ROWS=${TABLE_ROWS:-1000000}
. "$ROOT/.make/bench-files.sh" bench-rest
user=$(as_server id -un)

add_user() { # name: with the password of this run
  java_in -jar "$RUN_DIR/lib/kakehashi-endpoint.jar" user add "$1" --data-directory "$home/endpoint/data" \
    <<<"$KAKEHASHI_PASSWORD" >"$ROOT/target/user.log" 2>&1 || { cat "$ROOT/target/user.log" >&2; die "could not add the user $1"; }
}

end_others() {
  [ -z "${peer_pid:-}" ] || kill "$peer_pid" 2>/dev/null || true
}

step "servers"
end_servers_with_script "$home"
KAKEHASHI_PASSWORD=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
PEER_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export KAKEHASHI_PASSWORD PEER_TOKEN
server_mkdir "$home/endpoint"
add_user "$user"
add_user bench_reader
http_port=$(free_port 54800)
# The polls wait all at once, for one user at one address.
settings=(--set "http_port=$http_port" --set memory=1GB --set http_address_connections=1200 --set http_user_requests=1200)
for setting in ${SETTINGS:-}; do
  settings+=(--set "$setting")
done
start_endpoint "$home/endpoint" "$runtime_dir" "${settings[@]}"
start_postgres "$home/pg" 54700 shared_buffers=256MB max_wal_size=4GB
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
sql -c "CREATE TABLE numbers (id int8 PRIMARY KEY, grp int4, val int4)" \
  -c "INSERT INTO numbers SELECT i, i % 10, i * 7919 % 100000 FROM generate_series(1::int8, $TABLE_ROWS) i" \
  -c "CREATE TABLE events (id int8 PRIMARY KEY, val int4)" -c "VACUUM ANALYZE numbers"

step "the peer"
# Of its own: it has nothing of the endpoint's.
PGPASSWORD=$(as_server cat "$home/pg/password")
export PGPASSWORD
exec_as_server "$JAVA_HOME/bin/java" -Xmx1g -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/peer/*" \
  dev.kakehashi.benchmarks.rest.PeerService "jdbc:postgresql://localhost:$PGPORT/postgres" postgres "$PEER_TOKEN" "$home/peer_port" \
  >"$out/peer.log" 2>&1 </dev/null &
peer_pid=$!
unset PGPASSWORD
peer_listens() { as_server test -f "$home/peer_port"; }
wait_until 60 peer_listens || { tail -20 "$out/peer.log" >&2; die "the peer did not start" "Its log is $out/peer.log."; }

step "results"
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, medians of %s%s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "${REPETITIONS:-5}" "${SETTINGS:+, $SETTINGS}"
  # shellcheck disable=SC2086 # the rows are words
  java_in -Dbench.tableRows="$TABLE_ROWS" -Dbench.seconds="${SECONDS_PER_RUN:-3}" -Dbench.repetitions="${REPETITIONS:-5}" \
    -Dbench.warmUpSeconds="${WARMUP_SECONDS:-20}" -Dbench.user="$user" \
    -Dslf4j.provider=org.slf4j.simple.SimpleServiceProvider -Dslf4j.internal.verbosity=WARN \
    -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-tools.jar:$RUN_DIR/lib/kakehashi-endpoint.jar:$RUN_DIR/lib/peer/*" \
    dev.kakehashi.benchmarks.rest.RestBenchmark "$runtime_dir" "$http_port" "$(endpoint_pid "$home/endpoint")" \
    "$(as_server cat "$home/peer_port")" "$peer_pid" "$(as_server head -1 "$home/pg/data/postmaster.pid")" $ROWS
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
