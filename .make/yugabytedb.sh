#!/usr/bin/env bash
# The acceptance of the engine "pgwire" over YugabyteDB: conformance suite, then transfers while each node is killed in turn. Needs Docker and the image of packaging/compose/yugabytedb.yaml.
#   ADDRESSES=127.0.0.1:5433,…    of other nodes; KILL= and RESTART= then kill one and start it again, $1 is the number of the kill
#   KILLS=10 WRITERS=4 MILLIS=5000
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java

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
