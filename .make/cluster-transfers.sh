#!/usr/bin/env bash
# Transfers over PostgreSQL under Patroni, while each of its three nodes is killed in turn, and the one that leads every fourth time. See .make/transfers.sh for KILLS, MILLIS, WRITERS.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java
find_postgres
prepare_run_dir
trap '.make/patroni.sh stop' EXIT
.make/patroni.sh start
pgwire=$ROOT/ipc-endpoint/engine-pgwire/target
export ENGINE=dev.kakehashi.pgwire.PgWireUnderTest ENGINE_CLASSPATH=$pgwire/classes:$pgwire/test-classes
export ENGINE_OPTIONS="-Dkakehashi.tck.pgwire.addresses=$(.make/patroni.sh addresses) -Dkakehashi.tck.pgwire.password=$RUN_DIR/patroni/password"
export KILL="$ROOT/.make/patroni.sh kill \$([ \$((\$1 % 4)) = 0 ] && echo leader || echo \$((\$1 % 4)))" RESTART="$ROOT/.make/patroni.sh restart"
.make/transfers.sh
