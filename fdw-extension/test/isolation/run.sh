#!/bin/sh
# Isolation specs: each runs on heap tables, then on foreign tables. Connects as libpq's environment says.
#   run.sh PG_CONFIG RESULTS_DIRECTORY RUNTIME_DIRECTORY
set -eu
specs=$(cd "$(dirname "$0")" && pwd -P)
psql=$("$1" --bindir)/psql
tester=$(dirname "$(dirname "$(dirname "$("$1" --pgxs)")")")/src/test/isolation/pg_isolation_regress
results=$2
runtime_dir=$3
if [ ! -x "$tester" ]; then
  echo "error: could not find pg_isolation_regress at $tester; Debian has it in postgresql-client" >&2
  exit 1
fi
rm -rf "$results"
mkdir -p "$results"

# run KIND [OPTION...]: tables of that kind in a database of their own, then all specs.
run() {
  kind=$1
  shift
  "$psql" -X -q -d postgres -c "DROP DATABASE IF EXISTS isolation_$kind" -c "CREATE DATABASE isolation_$kind"
  "$psql" -X -q -d "isolation_$kind" "$@" -f "$specs/tables.sql"
  # What foreign tables answer differently is expected of them alone.
  mkdir -p "$results/$kind"
  cp -r "$specs/specs" "$specs/expected" "$results/$kind"
  [ "$kind" = heap ] || cp "$specs"/differences/*.out "$results/$kind/expected"
  echo "isolation specs on $kind tables"
  "$tester" --inputdir="$results/$kind" --outputdir="$results/$kind" --bindir="$(dirname "$psql")" --use-existing \
    --dbname="isolation_$kind" $(cd "$specs/specs" && ls -- *.spec | sed 's/\.spec$//')
}

status=0
run heap || status=1
run foreign -v foreign=1 -v "runtime_dir=$runtime_dir" || status=1
# There are no differences when a run has failed before its first spec.
[ $status = 0 ] || cat "$results"/*/regression.diffs 2>/dev/null || true
exit $status
