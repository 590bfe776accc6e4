#!/usr/bin/env bash
# make bench-scheduler: the same work on the scheduler and on those of the JDK, in one run, with ratios and goals, a JVM
# for each row. Some six minutes; on a machine that does something else meanwhile only the least figures say anything.
#   REPETITIONS=7   of each measure          ROWS=   of them, all without: see Comparison
#   JVM=            further options of the JVM, as -Dscheduler.fences=full
#   GC=G1           the JVM's collector: it decides what storing a reference costs, for every scheduler; the endpoint has Serial
#   JMH=REGEX       JMH benchmarks of the core operations instead, those whose names match ("." is all, ten minutes);
#   JMH_OPTIONS=    further options of JMH, as "-f 3" or "-prof gc"
. "$(dirname "$0")/lib.sh"

if [ -n "${JMH:-}" ]; then
  "$ROOT/.make/maven.sh" bench-scheduler -q -Pjmh -pl scheduler -Dspotless.check.skip=true test-compile
  exec env VERBOSE=1 "$ROOT/.make/maven.sh" bench-scheduler-jmh -q -Pjmh -pl scheduler exec:exec \
    -Djmh.arguments="-foe true ${JMH_OPTIONS:-} $JMH"
fi

"$ROOT/.make/maven.sh" bench-scheduler -q -pl scheduler -Dspotless.check.skip=true test-compile
find_java
# Word splitting is wanted: each row is an argument.
# shellcheck disable=SC2086
exec "$JAVA_HOME/bin/java" "-XX:+Use${GC:-G1}GC" --enable-native-access=ALL-UNNAMED ${JVM:-} \
  -cp "$ROOT/scheduler/target/classes:$ROOT/scheduler/target/test-classes" \
  dev.kakehashi.scheduler.bench.Comparison "${REPETITIONS:-7}" ${ROWS:-}
