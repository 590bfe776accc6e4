#!/usr/bin/env bash
# maven.sh NAME ARGUMENTS...: runs Maven, shows one line per module, keeps everything in target/NAME.log.
# With VERBOSE=1 Maven's own output is shown.
. "$(dirname "$0")/lib.sh"

name=$1
shift
find_java
cd "$ROOT"
mkdir -p target
log=target/$name.log
started=$(now_millis)
step "mvn $*"
if [ -n "${VERBOSE:-}" ]; then
  $MVN -B -ntp "$@" 2>&1 | tee "$log" || status=$?
else
  # Dots would say nothing: modules and test classes are the progress.
  $MVN -B -ntp "$@" 2>&1 | tee "$log" |
    grep --line-buffered -E '^\[INFO\] (Building [^j].*\[[0-9]+/[0-9]+\]|Running )|Tests run:.*(FAILURE|ERROR)' |
    sed -u 's/^\[INFO\] /   /' || status=${PIPESTATUS[0]}
fi
if [ "${status:-0}" != 0 ]; then
  # A checker's finding is a warning with its place; the error only says that there was one.
  grep -E '^\[ERROR\]|^\[WARNING\] [^ ]+\.java:\[|^Tests run:.*Fail' "$log" | head -60 >&2 || tail -40 "$log" >&2
  die "mvn failed after $(elapsed "$started")" "The whole output is in $log; VERBOSE=1 shows it."
fi
say "   done in $(elapsed "$started")"
