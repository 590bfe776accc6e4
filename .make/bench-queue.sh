#!/usr/bin/env bash
# make bench-queue: the queue against tables of PostgreSQL's heap (SKIP LOCKED, pgmq's shape), PgQ, graphile-worker, pg-boss, db-scheduler, beanstalkd and JetStream, taking
# turns in one run, fsync on where they have it. Installs the others as packages of Debian and npm. Kept in target/bench-queue/.
#   ROWS=               of the printed table, all without: life batches latency consumers snapshot backlog keys polls push kill local
#   SECONDS_PER_RUN=3   of each rate   REPETITIONS=3   of each rate   HELD_SECONDS=60   beside snapshots   BACKLOG=1000000   tasks at most
#   WARMUP_SECONDS=20   of ours, before rates: the endpoint's compilers work that long
#   OTHERS=only         the others alone, one turn      ONLY=pgmq   of the others, those whose name has this
. "$(dirname "$0")/lib.sh"

ROWS=${ROWS:-life batches latency consumers snapshot backlog keys polls push kill local}
. "$ROOT/.make/bench-files.sh" bench-queue

step "the others"
missing=()
for package in "postgresql-$PG_MAJOR-pgq3" beanstalkd nats-server; do
  dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
command -v npm >/dev/null || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ]; then
  # Their services are not wanted: a server of each is started below.
  printf '#!/bin/sh\nexit 101\n' >"$out/policy-rc.d"
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$out/apt.log" 2>&1 ||
    { tail -20 "$out/apt.log" >&2; die "could not install ${missing[*]}" "The log is $out/apt.log."; }
fi
# Into the staged PostgreSQL.
for file in "$("$PG_CONFIG" --sharedir)"/extension/pgq* "$("$PG_CONFIG" --pkglibdir)"/pgq_*.so; do
  ln -sfn "$file" "$RUN_DIR/pgsql-$PG_MAJOR$file"
done
end_servers_with_script "$home"
server_mkdir "$home/node" "$home/beanstalkd" "$home/nats"
for script in graphile pgboss; do
  install -m 644 "$ROOT/ipc-endpoint/benchmarks/src/main/resources/dev/kakehashi/benchmarks/queue/$script.mjs" "$home/node/"
done
npm install --prefix "$home/node" --no-audit --no-fund --silent graphile-worker@0.18.0 pg-boss@12.38.0 pg >"$out/npm.log" 2>&1 ||
  { tail -20 "$out/npm.log" >&2; die "could not install graphile-worker and pg-boss" "The log is $out/npm.log."; }
chmod -R a+rX "$home/node"

end_others() {
  for pid in "${beanstalkd_pid:-}" "${nats_pid:-}"; do
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true # one that has ended by itself is no error
  done
}

step "servers"
[ "${OTHERS:-}" = only ] || start_endpoint "$home/endpoint" "$runtime_dir" --set memory=1GB --set queue_push_targets=127.0.0.1/32
start_postgres "$home/pg" 54700 shared_buffers=256MB max_wal_size=4GB max_connections=300 shared_preload_libraries=kakehashi_fdw
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
beanstalkd_port=$(free_port 54900)
exec_as_server beanstalkd -l 127.0.0.1 -p "$beanstalkd_port" -b "$home/beanstalkd" -f 0 >"$out/beanstalkd.log" 2>&1 </dev/null &
beanstalkd_pid=$!
nats_port=$(free_port $((beanstalkd_port + 1)))
exec_as_server nats-server -a 127.0.0.1 -p "$nats_port" -js -sd "$home/nats" >"$out/nats.log" 2>&1 </dev/null &
nats_pid=$!

step "results"
pid=$(endpoint_pid "$home/endpoint")
[ -n "$pid" ] || pid=0 # the others alone
password=$(as_server cat "$home/pg/password")
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, medians of %s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "${REPETITIONS:-3}"
  # shellcheck disable=SC2086 # the rows are words
  java_in -Dbench.warmUpSeconds="${WARMUP_SECONDS:-20}" -Dbench.seconds="${SECONDS_PER_RUN:-3}" -Dbench.repetitions="${REPETITIONS:-3}" -Dbench.heldSeconds="${HELD_SECONDS:-60}" \
    -Dbench.backlog="${BACKLOG:-1000000}" -Dbench.only="${ONLY:-}" -Dbench.othersOnly="$([ "${OTHERS:-}" = only ] && echo true || echo false)" \
    -Dslf4j.provider=org.slf4j.simple.SimpleServiceProvider -Dslf4j.internal.verbosity=WARN \
    -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-tools.jar:$RUN_DIR/lib/kakehashi-endpoint.jar:$RUN_DIR/lib/peer/*" \
    dev.kakehashi.benchmarks.queue.QueueBenchmark "$runtime_dir" "$pid" \
    "jdbc:postgresql://localhost:$PGPORT/postgres?user=postgres&password=$password" "$beanstalkd_port" "$nats_port" "$home/node" $ROWS
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
