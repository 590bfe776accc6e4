#!/usr/bin/env bash
# summary.sh TIME [SUITE THAT FAILED]...: what the tests of this run reported; exits 1 if anything failed.
# With KAKEHASHI_NO_SKIP=1 (CI) a skipped test is a failure, too.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

time=$1
shift

# One line per module: tests, failures, skipped. Reads the attributes of <testsuite ...> of surefire's reports.
surefire() {
  find . -path '*/target/surefire-reports/TEST-*.xml' -not -path './.run/*' | sort | while read -r report; do
    module=${report#./} module=${module%%/target/*}
    grep -m1 -o '<testsuite [^>]*' "$report" | tr ' ' '\n' | awk -F'"' -v module="$module" '
      /^tests=/ {t = $2} /^failures=/ {f += $2} /^errors=/ {f += $2} /^skipped=/ {s = $2}
      END {print module, t + 0, f + 0, s + 0}'
  done | awk '{t[$1] += $2; f[$1] += $3; s[$1] += $4} END {for (m in t) print m, t[m], f[m], s[m]}' | sort
}

# "ok 12 - name 34 ms" (16 and later) and "test name ... ok 34 ms" (15) of pg_regress.
regress() { # name log
  [ -f "$2" ] || return 0
  awk -v name="$1" '/^(ok [0-9]|test .*\.\.\. ok| +[a-z0-9_-]+ +\.\.\. ok)/ {p++} /^not ok|\.\.\. FAILED/ {f++} END {print name, p + f, f + 0, 0}' "$2"
}

c_tests() {
  [ -f target/tests-c.log ] || return 0
  awk '/^ok / {p++} /^not ok / {f++} END {print "C", p + f, f + 0, 0}' target/tests-c.log
}

step "summary after $time"
lines=$(surefire; c_tests; regress pg_regress target/tests-regress.log; regress isolation target/tests-isolation.log)
printf '%s\n' "$lines" | awk '{printf "  %-36s %5d passed, %d failed, %d skipped\n", $1, $2 - $3 - $4, $3, $4}'
if grep -lq '<skipped' $(find . -path '*/target/surefire-reports/TEST-*.xml') /dev/null; then
  say "  skipped:"
  grep -B1 -h '<skipped' $(find . -path '*/target/surefire-reports/TEST-*.xml') | sed -n 's/.*<testcase name="\([^"]*\)" classname="\([^"]*\)".*/    \2.\1/p'
fi
[ $# = 0 ] || say "  suites that failed: $*"
read -r passed failed skipped < <(printf '%s\n' "$lines" | awk '{p += $2 - $3 - $4; f += $3; s += $4} END {print p + 0, f + 0, s + 0}')
# A suite may fail without a failed test (it did not start): then it counts as one.
if [ "$failed" = 0 ]; then failed=$#; fi
say "kakehashi: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit 1
# What is skipped because Debian's unstable packages could not be had is not our failure; docker.sh has said why.
unstable=$({ find . -path '*/target/surefire-reports/TEST-*.DebianSid*.xml' -exec cat {} + | grep -o '<skipped[^>]*' || true; } | sort | uniq -c)
if [ -n "$unstable" ]; then say "skipped on Debian sid:$unstable"; fi
unstable=$(printf '%s\n' "$unstable" | awk '{s += $1} END {print s + 0}')
skipped=$((skipped - unstable))
[ -z "${KAKEHASHI_NO_SKIP:-}" ] || [ "$skipped" = 0 ] || die "$skipped tests were skipped, and nothing may be skipped here"
