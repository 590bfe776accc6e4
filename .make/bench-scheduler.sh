#!/usr/bin/env bash
# make bench-scheduler: the same work on the scheduler and on those of the JDK, in one run, with ratios and goals. About two
# minutes; on a machine that does something else meanwhile only the least figures say anything.
#   REPETITIONS=7   of each measure          ROWS=   of them, all without: see Comparison
. "$(dirname "$0")/lib.sh"

"$ROOT/.make/maven.sh" bench-scheduler -q -pl scheduler -Dspotless.check.skip=true test-compile
find_java
# Word splitting is wanted: each row is an argument.
# shellcheck disable=SC2086
exec "$JAVA_HOME/bin/java" -cp "$ROOT/scheduler/target/classes:$ROOT/scheduler/target/test-classes" \
  dev.kakehashi.scheduler.bench.Comparison "${REPETITIONS:-7}" ${ROWS:-}
