#!/usr/bin/env bash
# pg_regress of the extension against a private PostgreSQL and an endpoint. Output: target/tests-regress.log.
# ENGINE=pgwire: a second private PostgreSQL keeps the endpoint's rows. Scripts that fdw-extension/test/pgwire.txt names give another output then.
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
  stop_postgres "$home/engine" >/dev/null
  rm -rf "$home" "$runtime_dir"
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

step "pg_regress, PostgreSQL $PG_MAJOR"
rm -rf "$home"
server_mkdir "$home"
engine_settings=(--set direct_reads=on)
if [ "${ENGINE:-embedded}" = pgwire ]; then
  start_postgres "$home/engine" 54500 fsync=off max_prepared_transactions=50
  # The role has the superuser's password, which is in a file already.
  sql -h "$home/engine/socket" -p "$(cat "$home/engine/port")" -U postgres -d postgres -v password="$(cat "$home/engine/password")" <<'SQL'
CREATE ROLE kakehashi LOGIN PASSWORD :'password';
GRANT pg_signal_backend, pg_read_all_stats TO kakehashi;
CREATE DATABASE kakehashi OWNER kakehashi;
SQL
  engine_settings=(--set engine=pgwire --set "pgwire_addresses=localhost:$(cat "$home/engine/port")" --set "pgwire_password_file=$home/engine/password")
fi
start_endpoint "$home/endpoint" "$runtime_dir" "${engine_settings[@]}"
start_postgres "$home/pg" 54400 fsync=off max_prepared_transactions=10
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres KAKEHASHI_RUNTIME_DIR=$runtime_dir
status=0
suite=0
make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" installcheck 2>&1 | tee "$log" || suite=1
if [ "${ENGINE:-embedded}" = embedded ]; then
  # There is no such file where the suite did not begin; what failed then is in the log.
  [ $suite = 0 ] || cat "$ROOT/fdw-extension/test-results/regression.diffs" 2>/dev/null || true
  status=$suite
else
  # Exactly those that the list names differ; why is said there.
  differing=$(sed -nE 's/^(not ok [0-9]+ +- |test )([0-9a-z-]+) .*/\2 &/p' "$log" | awk '/not ok|FAILED/ {print $1}' | sort)
  listed=$(awk '/^[0-9]/ {print $1}' "$ROOT/fdw-extension/test/pgwire.txt" | sort)
  say "$(awk '/^(ok [0-9]|test .*\.\.\. ok)/ {p++} END {print p + 0}' "$log") scripts give the output of the embedded engine, $(printf '%s\n' "$differing" | grep -c .) another one"
  if [ "$differing" != "$listed" ]; then
    # That they differ is no failure of diff.
    { diff <(printf '%s\n' "$listed") <(printf '%s\n' "$differing") || true; } | sed -n 's/^< /no longer differs: /p; s/^> /differs: /p'
    status=1
  fi
fi
"$ROOT/fdw-extension/test/isolation/run.sh" "$PG_CONFIG" "$ROOT/fdw-extension/test-results/isolation" "$runtime_dir" 2>&1 |
  tee "$ROOT/target/tests-isolation.log" || status=1
exit $status
