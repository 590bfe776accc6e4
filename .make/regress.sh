#!/usr/bin/env bash
# pg_regress of the extension against a private PostgreSQL and an endpoint. Output: target/tests-regress.log.
. "$(dirname "$0")/lib.sh"

find_java
find_postgres
prepare_run_dir
. "$ROOT/.make/cluster.sh"

home=$RUN_DIR/regress
runtime_dir=/dev/shm/kakehashi-regress-$$
log=$ROOT/target/tests-regress.log

cleanup() {
  local status=$?
  trap - EXIT
  stop_postgres "$home/pg" >/dev/null
  stop_endpoint "$home/endpoint" >/dev/null
  rm -rf "$home" "$runtime_dir"
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

step "pg_regress, PostgreSQL $PG_MAJOR"
rm -rf "$home"
server_mkdir "$home"
start_endpoint "$home/endpoint" "$runtime_dir"
start_postgres "$home/pg" 54400 fsync=off max_prepared_transactions=10
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres KAKEHASHI_RUNTIME_DIR=$runtime_dir
status=0
make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" installcheck 2>&1 | tee "$log" || status=1
if [ $status != 0 ]; then
  cat "$ROOT/fdw-extension/test-results/regression.diffs" 2>/dev/null || true
fi
"$ROOT/fdw-extension/test/isolation/run.sh" "$PG_CONFIG" "$ROOT/fdw-extension/test-results/isolation" "$runtime_dir" 2>&1 |
  tee "$ROOT/target/tests-isolation.log" || status=1
exit $status
