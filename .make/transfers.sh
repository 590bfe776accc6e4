#!/usr/bin/env bash
# make transfers: money is moved while what keeps it is killed; afterwards no acknowledged transfer may be lost, and every account has to be right.
#   KILLS=10         how many            MILLIS=3000      of load before each, and after it
#   WRITERS=4        threads that move   READERS=1        threads that add up, in one snapshot
#   ACCOUNTS=1000    rows
#   ENGINE=          class of an EngineUnderTest; without, the embedded engine in a child that is killed with its writers
#   ENGINE_CLASSPATH=     jars that have it         ENGINE_OPTIONS=       options of the JVM for it, as "-Dname=value"
#   LEAST_RATE=0     percent of the rate before a kill that is to be reached until the restart
#   KILL= RESTART=   commands that kill something of that engine and start it again; both get the number of the kill as $1
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java
.make/stage.sh
prepare_run_dir

tck=$ROOT/ipc-endpoint/engine-tck/target
home=$ROOT/target/transfers
rm -rf "$home"
mkdir -p "$home"
arguments=("--engine=${ENGINE:-dev.kakehashi.tck.embedded.EmbeddedUnderTest}" "--ledger=$home/ledger" "--accounts=${ACCOUNTS:-1000}"
  "--writers=${WRITERS:-4}" "--readers=${READERS:-1}" "--kills=${KILLS:-10}" "--millis=${MILLIS:-3000}"
  "--least-rate=${LEAST_RATE:-0}" "--kill=${KILL:-}" "--restart=${RESTART:-}")
step "transfers"
# Word splitting is wanted: each option is an argument.
# shellcheck disable=SC2086
"$JAVA_HOME/bin/java" "@$RUN_DIR/lib/jvm.options" -Dkakehashi.tck.directory="$home/store" ${ENGINE_OPTIONS:-} \
  -cp "${ENGINE_CLASSPATH:+$ENGINE_CLASSPATH:}$tck/classes:$tck/test-classes:$RUN_DIR/lib/kakehashi-endpoint.jar" \
  dev.kakehashi.tck.transfers.TransferTrial "${arguments[@]}" | tee "$home/results.txt"
say "kept in $home/results.txt"
