#!/usr/bin/env bash
# make mutation: changes the compiled classes of a package, one place at a time (pitest), and lists the changes that no test of the module notices. Kept in target/mutation.csv.
#   PACKAGE=dev.kakehashi.queue.order   classes of it and of those within it
#   MODULE=ipc-endpoint/queue           that has them, and the tests
#   TESTS=dev.kakehashi.queue.*         classes of tests, as patterns; tests of processes and time take long
. "$(dirname "$0")/lib.sh"
find_java
cd "$ROOT"
package=${PACKAGE:-dev.kakehashi.queue.order}
module=${MODULE:-ipc-endpoint/queue}
report=$module/target/pit-reports/mutations.csv
rm -f "$report"
.make/maven.sh mutation -Pmutation,quick -pl "$module" test-compile org.pitest:pitest-maven:mutationCoverage \
  "-DtargetClasses=$package.*" "-DtargetTests=${TESTS:-dev.kakehashi.queue.*}" "-Dthreads=${THREADS:-$(nproc)}" -DskipTests=false
cp "$report" target/mutation.csv
# File, class, mutator, method, line, result, test.
awk -F, '{c = $2; sub(/.*\./, "", c); sub(/\$.*/, "", c); all[c]++; n++; if ($6 != "SURVIVED" && $6 != "NO_COVERAGE") {killed[c]++; k++}
    else {m = $3; sub(/.*\./, "", m); printf "%s:%s %s, %s: %s\n", $1, $5, $4, m, tolower($6)}}
  END {for (c in all) printf "score %s %d of %d\n", c, killed[c], all[c]; printf "score: %d of %d mutants killed, %.0f %%\n", k, n, n ? 100 * k / n : 0}' target/mutation.csv | sort -t: -k1,1 -k2,2n
