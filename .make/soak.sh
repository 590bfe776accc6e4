#!/usr/bin/env bash
# The randomised tests of "make test" at larger sizes and with new seeds: hours where the build takes minutes. Each test prints
# its seed and sizes as properties; the same properties repeat it.
#   ONLY=store,power,sql,server,bulk,http,queue,applications,engines,cluster,citus,scheduler,schedules,memory,direct,sqlsmith,system   parts of it, all without
#   FACTOR=10                      how many times the sizes of "make test"
#   SEED=                          of all tests; without, those of a new run
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java
find_postgres

factor=${FACTOR:-10}
started=$(now_millis)
failed=()

part() { # name tests arguments-of-Maven and sizes, by the names that the tests print...
  local name=$1 tests=$2
  shift 2
  [ -z "${ONLY:-}" ] || [[ ",$ONLY," == *",$name,"* ]] || return 0
  step "soak: $name"
  VERBOSE=1 .make/maven.sh "soak-$name" "$@" -Dkakehashi.seed="${SEED:-$(date +%s)}" \
    -Dtest="$tests" -Dsurefire.failIfNoSpecifiedTests=false test || failed+=("$name")
}

part store 'Store*Test,OrderedTreeTest,RangeDivisionTest,StaleEntriesTest' -pl ipc-endpoint/engine -am \
  -Dkakehashi.kills=$((20 * factor)) -Dkakehashi.rounds=$((2000 * factor)) -Dkakehashi.cuts=100000
part power StorePowerLossTest -pl ipc-endpoint/engine -am -Dkakehashi.powerLosses=$((1000 * factor))
part sql '*DifferenceTest,NestedSubqueryTest,CorrelatedPlanTest,*CrashTest,SerialOrderTest,SequenceTest,UniqueKeyStressTest' \
  -pl ipc-endpoint/engine -am -Dkakehashi.kills=$((20 * factor)) -Dkakehashi.rounds=$((150 * factor)) \
  -Dkakehashi.queries=$((300 * factor)) -Dkakehashi.statements=$((200 * factor)) \
  -Dkakehashi.texts=$((1500 * factor)) -Dkakehashi.difference.rounds=$((60 * factor))
part sql QueryIdentityTest -pl ipc-endpoint/engine -am -Dkakehashi.identities=$((100000 * factor))
part server 'HistoryTest,OrderEntryTest,BackupTest,QueueCrashTest' -pl ipc-endpoint/server -am \
  -Dkakehashi.kills=$((2 * factor)) -Dkakehashi.orderEntryCommits=$((150 * factor)) -Dkakehashi.historyCommits=120
part bulk BulkKillTest -pl ipc-endpoint/server -am -Dkakehashi.kills=$((20 * factor))
part server 'StandbyFaultsTest,LogArchiveTest' -pl ipc-endpoint/server -am -Dkakehashi.standbyFaults=$((20 * factor)) -Dkakehashi.moments=$((10 * factor))
part http 'HttpKillTest,JobCrashTest,RightsDifferenceTest' -pl ipc-endpoint/rest,ipc-endpoint/server,ipc-endpoint/engine -am \
  -Dkakehashi.kills=$((20 * factor)) -Dkakehashi.statements=$((500 * factor))
part bulk 'Csv*Test,TextValuesTest,Parquet*Test,Arrow*Test,FilesLoadTest,ReadAgainTest,FileGateTest,Load*Test,BatchedLoadTest' \
  -pl ipc-endpoint/bulk,ipc-endpoint/engine -am -Dkakehashi.csvFiles=$((1000 * factor)) -Dkakehashi.csvValues=$((50000 * factor)) \
  -Dkakehashi.damagedCsv=$((1000 * factor)) -Dkakehashi.parquet.mutations=$((5000 * factor)) \
  -Dkakehashi.parquet.tables=$((30 * factor)) -Dkakehashi.arrow.rounds=$((10 * factor)) \
  -Dkakehashi.arrow.damages=$((500 * factor)) -Dkakehashi.bulk.rows=$((20000 * factor)) \
  -Dkakehashi.kills=$((20 * factor))
part queue 'RandomProgramTest,DelayedTasksTest' -pl ipc-endpoint/queue -am -Dkakehashi.queue.programs=$((100 * factor)) -Dkakehashi.queue.delayed=1000000
part queue QueueKillTest -f pg-tests/pom.xml -Dkakehashi.root="$ROOT" -Dkakehashi.pgMajor="$PG_MAJOR" -Dkakehashi.queueKills=$((20 * factor))
part applications IsolatedApplicationTest,OwnProcessTest -pl ipc-endpoint/applications,ipc-endpoint/server -am -Dkakehashi.processKills=$((20 * factor))
part engines 'EmbeddedConformanceTest,TransferTrialTest' -pl ipc-endpoint/engine-tck -am \
  -Dkakehashi.tck.rows=1000000 -Dkakehashi.tck.rounds=$((50 * factor)) -Dkakehashi.kills=$((2 * factor)) -Dkakehashi.tck.millis=3000 -Dkakehashi.tck.jvm=-XX:+UseSerialGC
part engines 'PgWireConformanceTest,KilledServerTrialTest' -pl ipc-endpoint/engine-pgwire -am -Dkakehashi.tck.rows=1000000 -Dkakehashi.tck.rounds=$((50 * factor)) \
  -Dkakehashi.kills=$((2 * factor)) -Dkakehashi.tck.millis=3000
part engines ForeignDifferenceTest -f pg-tests/pom.xml -Dkakehashi.engine=pgwire -Dkakehashi.root="$ROOT" -Dkakehashi.pgMajor="$PG_MAJOR" -Dkakehashi.queries=$((1000 * factor))
if [ -z "${ONLY:-}" ] || [[ ",$ONLY," == *",cluster,"* ]]; then
  step "soak: cluster"
  for writers in 4 16; do
    KILLS=$factor WRITERS=$writers MILLIS=5000 LEAST_RATE=70 .make/cluster-transfers.sh || failed+=("cluster with $writers writers")
  done
fi
if [ -z "${ONLY:-}" ] || [[ ",$ONLY," == *",direct,"* ]]; then
  step "soak: direct"
  READS=$((50000000 * factor)) KILLS=$((4 * factor)) SEED="${SEED:-}" .make/direct-reads.sh || failed+=(direct)
fi
# Where sqlsmith is installed.
if command -v sqlsmith >/dev/null && { [ -z "${ONLY:-}" ] || [[ ",$ONLY," == *",sqlsmith,"* ]]; }; then
  step "soak: sqlsmith"
  SQLSMITH_SECONDS=$((60 * factor)) .make/sqlsmith.sh || failed+=(sqlsmith)
fi
# Where Citus is installed, or its source is named.
if { [ -n "${CITUS_SOURCE:-}" ] || [ -f "$("$PG_CONFIG" --sharedir)/extension/citus.control" ]; } && { [ -z "${ONLY:-}" ] || [[ ",$ONLY," == *",citus,"* ]]; }; then
  step "soak: citus"
  KILLS=$((2 * factor)) .make/test-citus.sh || failed+=(citus)
fi
part scheduler 'JcstressTest,StressTest,SimulationTest,FaultTest' -pl scheduler -Dscheduler.jcstress='-m default' \
  -Dscheduler.faultSeconds=$((6 * factor)) -Dscheduler.stressSeconds=$((16 * factor)) -Dscheduler.stressTasks=$((10000000 * factor))
part schedules SchedulesTest -pl ipc-endpoint/schedules -am -Dkakehashi.skip.schedules=false -Dkakehashi.schedules=$((1500 * factor))
part memory FailedAllocationTest -f pg-tests/pom.xml -Dkakehashi.root="$ROOT" -Dkakehashi.pgMajor="$PG_MAJOR" \
  -Dkakehashi.failedAllocations=$((50 * factor))
part memory FailedMemoryTest -pl ipc-endpoint/engine -am -Dkakehashi.failedMemory=$((200 * factor))
part system ForeignIdentityTest -f pg-tests/pom.xml -Dkakehashi.root="$ROOT" -Dkakehashi.pgMajor="$PG_MAJOR" \
  -Dkakehashi.identities=$((100000 * factor))
part system 'ForeignDifferenceTest,EndpointKilledUnderLoadTest,AtomicCommitTest,LeakTest,CsvOracleTest' -f pg-tests/pom.xml \
  -Dkakehashi.root="$ROOT" -Dkakehashi.pgMajor="$PG_MAJOR" \
  -Dkakehashi.kills=$((20 * factor)) -Dkakehashi.queries=$((10000 * factor)) -Dkakehashi.statements=$((12000 * factor)) \
  -Dkakehashi.csvFiles=$((1000 * factor))

say "soaked for $(elapsed "$started")"
[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}" "The seeds are in target/soak-*.log."
