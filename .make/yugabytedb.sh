#!/usr/bin/env bash
# The acceptance of the engine "pgwire" over YugabyteDB: conformance suite, then transfers while each node is killed in turn. Needs Docker and the image of packaging/compose/yugabytedb.yaml.
#   ADDRESSES=127.0.0.1:5433,…    of other nodes; KILL= and RESTART= then kill one and start it again, $1 is the number of the kill
#   KILLS=10 WRITERS=4 MILLIS=5000
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java

compose="docker compose -f $ROOT/packaging/compose/yugabytedb.yaml"
if [ -z "${ADDRESSES:-}" ]; then
  $compose up -d
  ADDRESSES=127.0.0.1:5433,127.0.0.2:5433,127.0.0.3:5433
  export KILL="$compose kill -s KILL yb\$(( (\$1 - 1) % 3 + 1 ))" RESTART="$compose start yb\$(( (\$1 - 1) % 3 + 1 ))"
fi
first=${ADDRESSES%%,*}
answers() { psql -X -h "${first%:*}" -p "${first##*:}" -U yugabyte -d yugabyte -c 'SELECT 1'; }
wait_until 300 answers || die "no node answers at $first"
admin() { psql -X -q -v ON_ERROR_STOP=1 -h "${first%:*}" -p "${first##*:}" -U yugabyte "$@"; }
if [ -z "$(admin -d yugabyte -Atc "SELECT 1 FROM pg_database WHERE datname = 'kakehashi'")" ]; then
  admin -d yugabyte -c "CREATE ROLE kakehashi LOGIN" -c "GRANT pg_signal_backend, pg_read_all_stats TO kakehashi" \
    -c "CREATE DATABASE kakehashi OWNER kakehashi"
fi

options="-Dkakehashi.tck.pgwire.addresses=$ADDRESSES -Dkakehashi.tck.pgwire.name=yugabytedb"
step "conformance"
# Word splitting is wanted: each option is an argument.
# shellcheck disable=SC2086
.make/maven.sh tck-yugabytedb -pl ipc-endpoint/engine-pgwire -am $options -Dtest=PgWireConformanceTest -Dsurefire.failIfNoSpecifiedTests=false test ||
  say "some cases failed"
cat ipc-endpoint/engine-pgwire/target/tck-yugabytedb.txt
pgwire=$ROOT/ipc-endpoint/engine-pgwire/target
ENGINE=dev.kakehashi.pgwire.PgWireUnderTest ENGINE_CLASSPATH=$pgwire/classes:$pgwire/test-classes ENGINE_OPTIONS=$options .make/transfers.sh
