#!/usr/bin/env bash
# make test-pgwire: the tests of the whole system, unchanged, over endpoints with engine = pgwire, each with a second private PostgreSQL for its rows. Then a table: what passed, and what was
# left out for which capability (pg-tests/src/test/resources/engine-pgwire.txt). It is kept in target/test-pgwire.txt.
#   ONLY=TpchTest,SqlstateTest     classes; regress is pg_regress. Without: all
#   LISTED=yes                     those of the list, which have to fail: one that passes has to leave the list
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java
find_postgres
.make/stage.sh

classes=${ONLY:-*Test,regress}
reports=pg-tests/target/surefire-reports
rm -rf "$reports"
failed=()

# Nothing is left where regress alone is wanted.
tests=$(printf '%s' "$classes" | tr ',' '\n' | { grep -vx regress || true; } | paste -sd,)
if [ -n "$tests" ]; then
  # A failed class does not hide the others, and the table says which it was.
  .make/maven.sh tests-pgwire -f pg-tests/pom.xml -Dkakehashi.engine=pgwire ${LISTED:+-Dkakehashi.listed=true} -Dkakehashi.forks="${FORKS:-2}" \
 -Dkakehashi.root="$ROOT" -Dkakehashi.pgMajor="$PG_MAJOR" -Dtest="$tests" -Dmaven.test.failure.ignore=true test ||
    failed+=(tests)
fi
if [[ ",$classes," == *,regress,* ]]; then
  ENGINE=pgwire .make/regress.sh || failed+=(pg_regress)
fi

step "over pgwire"
python3 .make/pgwire_table.py "$reports" "${LISTED:-no}" | tee target/test-pgwire.txt || failed+=(table)
[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}" "Reports are in $reports and target/tests-*.log."
