#!/usr/bin/env bash
# Isolation specs of the extension: each runs on heap tables, then on foreign tables. Called by regress.sh, with its servers.
. "$(dirname "$0")/lib.sh"

find_postgres
specs=$ROOT/fdw-extension/test/isolation
results=$ROOT/fdw-extension/test-results/isolation
log=$ROOT/target/tests-isolation.log
psql=$("$PG_CONFIG" --bindir)/psql
tester=$(dirname "$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")")/src/test/isolation/pg_isolation_regress
[ -x "$tester" ] || die "could not find pg_isolation_regress at $tester" "Install the package postgresql-client-$PG_MAJOR."

rm -rf "$results"
mkdir -p "$results"
: >"$log"

# run KIND [VARIABLE...]: tables of that kind in a database of their own, then all specs.
run() {
  local kind=$1 database=isolation_$1 variable options=()
  shift
  for variable in "$@"; do options+=(-v "$variable"); done
  "$psql" -X -q -d postgres -c "DROP DATABASE IF EXISTS $database" -c "CREATE DATABASE $database"
  "$psql" -X -q -d "$database" "${options[@]}" -f "$specs/tables.sql"
  # What foreign tables answer differently is expected of them alone.
  mkdir -p "$results/$kind"
  cp -r "$specs/specs" "$specs/expected" "$results/$kind"
  [ "$kind" = heap ] || cp "$specs"/differences/*.out "$results/$kind/expected"
  say "isolation specs on $kind tables"
  "$tester" --inputdir="$results/$kind" --outputdir="$results/$kind" --bindir="$(dirname "$psql")" --use-existing --dbname="$database" \
    $(cd "$specs/specs" && ls -- *.spec | sed 's/\.spec$//') 2>&1 | tee -a "$log"
}

status=0
run heap || status=1
run foreign foreign=1 "runtime_dir=$KAKEHASHI_RUNTIME_DIR" || status=1
[ $status = 0 ] || cat "$results"/*/regression.diffs 2>/dev/null || true
exit $status
