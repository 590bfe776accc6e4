#!/usr/bin/env bash
# make run: private endpoint and PostgreSQL below .run/, TPC-H loaded, a short tour. What is there already is kept.
. "$(dirname "$0")/lib.sh"

SCALE=${SCALE:-0.1}
started=$(now_millis)
find_java
find_postgres
"$ROOT/.make/stage.sh"
"$ROOT/.make/train.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"

endpoint=$RUN_DIR/endpoint
pg=$RUN_DIR/pg
runtime_dir=/dev/shm/kakehashi-run-$(printf '%s' "$RUN_DIR" | sha256sum | cut -c1-8)

await_dying_endpoint "$endpoint"
if [ -n "$(endpoint_pid "$endpoint")" ]; then
  say "the endpoint runs, process $(endpoint_pid "$endpoint")"
  runtime_dir=$(cat "$endpoint/runtime_dir")
else
  step "starting the endpoint"
  server_mkdir "$endpoint"
  # Its own OS user, so that psql and HTTP may continue each other's transactions.
  if [ ! -f "$endpoint/http_password" ]; then
    as_server sh -c "umask 077; od -An -N18 -tx1 /dev/urandom | tr -d ' \n' > '$endpoint/http_password.new'"
    java_in -jar "$RUN_DIR/lib/kakehashi-endpoint.jar" user add "$(as_server id -un)" --replace \
      --data-directory "$endpoint/data" <"$endpoint/http_password.new" >/dev/null || die "could not add the user for HTTP"
    as_server mv "$endpoint/http_password.new" "$endpoint/http_password"
  fi
  http_port=$(free_port 18080)
  as_server sh -c "echo $http_port > '$endpoint/http_port'"
  server_mkdir "$endpoint/files"
  # What somebody has changed there stays until "make clean".
  conf=$RUN_DIR/etc/kakehashi
  as_server mkdir -p -m 0755 "$conf"
  [ -f "$conf/kakehashi.conf" ] || as_server tee "$conf/kakehashi.conf" >/dev/null <<CONF
# Of the endpoint of "make run"; ipc-endpoint/server/src/main/dist/kakehashi.conf has all settings. ".run/bin/kakehashi reload" reads it again.
data_directory = $endpoint/data
runtime_directory = $runtime_dir
http_console = on
bulk_locations = files:$endpoint/files:readwrite
CONF
  printf 'runtime_directory = %s\nrequirepeer = %s\n' "$runtime_dir" "$SERVER_USER" | as_server tee "$conf/client.conf" >/dev/null
  start_endpoint "$endpoint" "$runtime_dir" --config "$conf/kakehashi.conf" --set "http_port=$http_port"
fi
# The server loads the library when it starts: one that runs with another is started anew.
library=$(find "$RUN_DIR/pgsql-$PG_MAJOR" -name kakehashi_fdw.so -type f -exec sha256sum {} + | cut -c1-64)
if postgres_running "$pg" && [ "$library" != "$(cat "$pg/library" 2>/dev/null)" ]; then
  step "stopping PostgreSQL, which has loaded another build of the extension"
  stop_postgres "$pg"
fi
if postgres_running "$pg"; then
  say "PostgreSQL runs, port $(cat "$pg/port")"
else
  step "starting PostgreSQL $PG_MAJOR"
  # PREPARE TRANSACTION and XA need both settings.
  start_postgres "$pg" 54320 shared_buffers=128MB shared_preload_libraries=kakehashi_fdw max_prepared_transactions=64
  as_server sh -c "echo $library > '$pg/library'"
fi

(
  umask 077
  cat >"$ROOT/.run/env" <<ENV
# Source this: . .run/env
export PGHOST='$pg/socket' PGPORT=$(cat "$pg/port") PGDATABASE=kakehashi PGUSER=postgres
export PGPASSWORD='$(cat "$pg/password")' # for TCP connections (localhost); the socket needs none
export KAKEHASHI_RUNTIME_DIR='$runtime_dir'
export JAVA_HOME='$JAVA_HOME' # the JDK of the endpoint, for Java clients
export KAKEHASHI_URL='http://127.0.0.1:$(cat "$endpoint/http_port")' KAKEHASHI_USER='$(as_server id -un)'
export KAKEHASHI_PASSWORD='$(cat "$endpoint/http_password")' # for HTTP
ENV
)
. "$ROOT/.run/env"

if [ -z "$(sql -d postgres -Atc "SELECT 1 FROM pg_database WHERE datname = 'kakehashi'")" ]; then
  sql -d postgres -c 'CREATE DATABASE kakehashi'
fi
if [ -z "$(sql -Atc "SELECT 1 FROM pg_foreign_server WHERE srvname = 'kakehashi'")" ]; then
  sql -c "CREATE EXTENSION IF NOT EXISTS kakehashi_fdw" \
    -c "CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir')" \
    -c "CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi"
fi
sql -c "ALTER SERVER kakehashi OPTIONS (SET runtime_dir '$runtime_dir')"

if [ "$(cat "$endpoint/tpch_scale" 2>/dev/null)" = "$SCALE" ]; then
  say "TPC-H at scale $SCALE is loaded"
else
  step "loading TPC-H at scale $SCALE"
  java_in -jar "$RUN_DIR/lib/kakehashi-tools.jar" tpch load --runtime-directory "$runtime_dir" --scale "$SCALE" --replace
  as_server sh -c "echo $SCALE > '$endpoint/tpch_scale'"
fi

step "a short tour"
sql -f "$ROOT/.make/tour.sql"
show_http() { # what is shown, what is sent
  printf '%s\n' "$1"
  curl -sS --fail-with-body -u "$KAKEHASHI_USER:$KAKEHASHI_PASSWORD" "$KAKEHASHI_URL/v1/sql" \
    -H 'Content-Type: application/json' -d "$2"
  printf '\n'
}
say "The same tables over HTTP:"
body='{"sql": "SELECT n_name, n_regionkey FROM tpch.nation WHERE n_nationkey = $1", "parameters": [12]}'
show_http "curl -u \"\$KAKEHASHI_USER:\$KAKEHASHI_PASSWORD\" \"\$KAKEHASHI_URL/v1/sql\" -H 'Content-Type: application/json' -d '$body'" "$body"

cat <<END

Both servers run; everything was ready after $(elapsed "$started").
  connect   make psql      or: . .run/env && psql
  HTTP      $KAKEHASHI_URL, login in .run/env (KAKEHASHI_USER, KAKEHASHI_PASSWORD)
  shell     .run/bin/kakehashi sql
  console   $KAKEHASHI_URL/console in a browser, with the same login
  stop      make stop
  logs      .run/endpoint/log, .run/pg/log
END
