#!/usr/bin/env bash
# The acceptance of the engine "pgwire" over YugabyteDB: conformance suite, then transfers while each node is killed in turn. Needs Docker and the image of packaging/compose/yugabytedb.yaml.
#   ADDRESSES=127.0.0.1:5433,…    of other nodes; KILL= and RESTART= then kill one and start it again, $1 is the number of the kill
#   PLAIN=yes                     a private PostgreSQL in place of YugabyteDB: shows that what fails is not this script
#   KILLS=10 WRITERS=4 MILLIS=5000
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java

# What the script asks of YugabyteDB, on a PostgreSQL. "kill" and "restart" are for its own transfers.
plain() { # [kill | restart]
  local home=$RUN_DIR/yugabytedb
  postgres_ended() { ! postgres_running "$home/pg"; }
  case "${1:-}" in
    kill)
      kill_with_children "$(head -1 "$home/pg/data/postmaster.pid")"
      wait_until 30 postgres_ended || die "PostgreSQL was killed and has not ended within 30 s"
      exit
      ;;
    restart)
      run_postgres "$home/pg"
      exit
      ;;
  esac
  end_servers_with_script "$home"
  start_postgres "$home/pg" 54690 max_connections=200
  printf 'local all all trust\nhost all all 127.0.0.1/32 trust\n' | as_server tee "$home/pg/data/pg_hba.conf" >/dev/null
  psql -X -q -v ON_ERROR_STOP=1 -h "$home/pg/socket" -p "$(cat "$home/pg/port")" -U postgres -d postgres -c "SELECT pg_reload_conf()" \
    -c "CREATE ROLE yugabyte SUPERUSER LOGIN" -c "CREATE DATABASE yugabyte" >/dev/null
  ADDRESSES=127.0.0.1:$(cat "$home/pg/port")
  # There is no other node, so it comes back at once.
  export KILL="PLAIN=yes $ROOT/.make/yugabytedb.sh kill && PLAIN=yes $ROOT/.make/yugabytedb.sh restart"
}

if [ "${PLAIN:-}" = yes ]; then
  find_postgres
  prepare_run_dir
  . "$ROOT/.make/cluster.sh"
  plain "$@"
fi
compose="docker compose -f $ROOT/packaging/compose/yugabytedb.yaml"
if [ -z "${ADDRESSES:-}" ]; then
  docker compose version >/dev/null 2>&1 || die "docker compose is not installed" "Install it, or name the nodes of a cluster in ADDRESSES."
  # Waits until all are healthy.
  $compose up -d --wait --wait-timeout 900 || die "the nodes did not start" "See \"$compose logs\"."
  ADDRESSES=127.0.0.1:5433,127.0.0.2:5433,127.0.0.3:5433
  export KILL="$compose kill -s KILL yb\$(( (\$1 - 1) % 3 + 1 ))" RESTART="$compose up -d --wait --wait-timeout 200 --no-deps --no-recreate yb\$(( (\$1 - 1) % 3 + 1 ))"
fi
first=${ADDRESSES%%,*}
admin() { psql -X -q -v ON_ERROR_STOP=1 -h "${first%:*}" -p "${first##*:}" -U yugabyte "$@"; }
answers() { admin -d yugabyte -c 'SELECT 1'; }
wait_until 300 answers || die "no node answers at $first"
[ "${PLAIN:-}" != yes ] || admin -d yugabyte -c "CREATE FUNCTION yb_servers() RETURNS SETOF text LANGUAGE sql AS 'SELECT inet_server_addr()::text'"
nodes=$(printf '%s' "$ADDRESSES" | tr ',' '\n' | grep -c .)
all_joined() { [ "$(admin -d yugabyte -Atc 'SELECT count(*) FROM yb_servers()')" -ge "$nodes" ]; }
wait_until 300 all_joined || die "fewer than $nodes nodes have joined"
if [ -z "$(admin -d yugabyte -Atc "SELECT 1 FROM pg_database WHERE datname = 'kakehashi'")" ]; then
  admin -d yugabyte -c "CREATE ROLE kakehashi LOGIN" -c "GRANT pg_signal_backend, pg_read_all_stats TO kakehashi" \
    -c "CREATE DATABASE kakehashi OWNER kakehashi"
fi

options="-Dkakehashi.tck.pgwire.addresses=$ADDRESSES -Dkakehashi.tck.pgwire.report=yugabytedb"
step "conformance"
ran=yes
# Word splitting is wanted: each option is an argument.
# shellcheck disable=SC2086
.make/maven.sh tck-yugabytedb -pl ipc-endpoint/engine-pgwire -am $options -Dtest=PgWireConformanceTest -Dsurefire.failIfNoSpecifiedTests=false test ||
  ran=no
cat ipc-endpoint/engine-pgwire/target/tck-yugabytedb.txt
pgwire=$ROOT/ipc-endpoint/engine-pgwire/target
ENGINE=dev.kakehashi.pgwire.PgWireUnderTest ENGINE_CLASSPATH=$pgwire/classes:$pgwire/test-classes ENGINE_OPTIONS=$options .make/transfers.sh
[ $ran = yes ] || die "cases of the conformance suite failed" "The table above has them."
