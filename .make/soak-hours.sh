#!/usr/bin/env bash
# make soak HOURS=2: every door at once for as long as asked, with kills, and a report of what grew. Kept in target/soak-hours/: report.md, picture.svg, samples.csv, logs.
#   HOURS=2           may be a fraction
#   KILL_SECONDS=600  between two kills: endpoint, one backend, postmaster, the process of an application, in turn; 0: none
#   SAMPLE_SECONDS=10 between two samples of memory, descriptors, files and latencies
#   ACCOUNTS=10000    rows that money is moved between
#   REST_MILLIS=20    that each client of pgbench waits after a transaction; 0: full load
# What it holds against the servers, at each turn and at the end:
#   sum     the balances add up to the same, also while money is moved, over HTTP and over foreign tables
#   journal each balance is what the rows of PostgreSQL's own table say: COMMIT was over both sides
#   tasks   each task that was made has been done once, and no other
#   files   a file that was loaded has the rows that were dumped
#   check   "kakehashi check" finds nothing in the data directory
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

HOURS=${HOURS:-2} KILL_SECONDS=${KILL_SECONDS:-600} SAMPLE_SECONDS=${SAMPLE_SECONDS:-10} ACCOUNTS=${ACCOUNTS:-10000} REST_MILLIS=${REST_MILLIS:-20}
seconds=$(awk -v h="$HOURS" 'BEGIN {s = h * 3600; printf "%d", s}')
[ "$seconds" -ge 60 ] || die "HOURS=$HOURS is less than a minute" "HOURS=0.05 is three minutes."
find_java
find_postgres
"$ROOT/.make/stage.sh"
"$ROOT/.make/train.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"

home=$RUN_DIR/soak
out=$ROOT/target/soak-hours
rm -rf "$out"
mkdir -p "$out"
end_servers_with_script "$home"
runtime_dir=/dev/shm/kakehashi-soak-$(printf '%s' "$RUN_DIR" | sha256sum | cut -c1-8)
endpoint=$home/endpoint pg=$home/pg
over=$out/over # clients end when it is there

clients=()
end_others() {
  touch "$over"
  local client
  for client in "${clients[@]}"; do kill -- "-$client" 2>/dev/null || true; done # one that has ended by itself is no error
}

step "servers"
server_mkdir "$endpoint" "$endpoint/files"
password=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
printf '%s' "$password" | java_in -jar "$RUN_DIR/lib/kakehashi-endpoint.jar" user add soak --data-directory "$endpoint/data" >/dev/null
http_port=$(free_port 18280)
start_soaked_endpoint() {
  start_endpoint "$endpoint" "$runtime_dir" --set "http_port=$http_port" --set "bulk_locations=files:$endpoint/files:readwrite" --set memory=1GB
}
start_soaked_postgres() {
  start_postgres "$pg" 54820 shared_buffers=128MB shared_preload_libraries=kakehashi_fdw max_prepared_transactions=64 max_connections=200
  PGPORT=$(cat "$pg/port")
  export PGPORT
}
start_soaked_endpoint
start_soaked_postgres
export PGHOST=$pg/socket PGUSER=postgres PGDATABASE=postgres PGCONNECT_TIMEOUT=10
url=http://127.0.0.1:$http_port/v1

execute() { sql -Atc "SELECT kakehashi_execute('kakehashi', \$\$$1\$\$)" >/dev/null; }
sql -c "CREATE EXTENSION kakehashi_fdw; CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir');
  CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi"
execute 'CREATE TABLE account (id int8 PRIMARY KEY, owner text NOT NULL, balance numeric(15,2) NOT NULL)'
execute 'CREATE INDEX account_owner ON account (owner)'
execute 'CREATE TABLE done (task int8 PRIMARY KEY, attempts int8)'
execute 'CREATE TABLE loaded (id int8 PRIMARY KEY, owner text NOT NULL, balance numeric(15,2) NOT NULL)'
execute 'CREATE QUEUE soak'
while IFS= read -r -d ';' statement; do execute "$(printf '%s' "$statement" | grep -v '^--')"; done <examples/order-service/schema.sql
sql -c "IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO public; CREATE TABLE journal (account int8, change numeric(15,2)); CREATE TABLE made (task int8 PRIMARY KEY);
  CREATE SEQUENCE task_numbers; CREATE SEQUENCE order_numbers;
  INSERT INTO account SELECT i, 'owner ' || i % 100, 100 FROM generate_series(1, $ACCOUNTS) i;
  INSERT INTO product VALUES (1, 'tea', 4.50, 2000000000); INSERT INTO customer VALUES ('anna', 'anna@example.org')"
# The process of an application dies, too, so that it has one of its own.
base64 -w0 "$RUN_DIR/lib/kakehashi-example-order-service.jar" >"$out/jar"
sql -v jar="$(cat "$out/jar")" >/dev/null <<'SQL'
SELECT kakehashi_deploy('kakehashi', 'shop', decode(:'jar', 'base64'), 'isolation = ''process''');
SQL
rm "$out/jar"

step "load for $HOURS hours"
# A transaction that a kill has ended is made again by the next one: pgbench ends at a lost connection, and begins anew.
cat >"$out/transfer.sql" <<SQL
\set a random(1, $ACCOUNTS)
\set b random(1, $ACCOUNTS)
\set x random(1, 500)
BEGIN;
UPDATE account SET balance = balance - :x / 100.0 WHERE id = :a;
UPDATE account SET balance = balance + :x / 100.0 WHERE id = :b;
INSERT INTO journal VALUES (:a, -:x / 100.0), (:b, :x / 100.0);
COMMIT;
\sleep $REST_MILLIS ms
SQL
cat >"$out/read.sql" <<SQL
\set a random(1, $ACCOUNTS)
SELECT owner, balance FROM account WHERE id = :a;
SELECT count(*), sum(balance) FROM account WHERE owner = 'owner ' || :a % 100;
\sleep $REST_MILLIS ms
SQL
cat >"$out/produce.sql" <<SQL
BEGIN;
WITH m AS (INSERT INTO made VALUES (nextval('task_numbers')) RETURNING task) SELECT kakehashi_enqueue('kakehashi', 'soak', jsonb_build_object('task', task)) FROM m;
COMMIT;
\sleep $REST_MILLIS ms
SQL
cat >"$out/consume.sql" <<'SQL'
CALL kakehashi_wait('kakehashi', 'soak', '2 s', 10);
BEGIN;
CREATE TEMP TABLE IF NOT EXISTS received (token text, task int8, attempt int8);
TRUNCATE received;
INSERT INTO received SELECT token, (payload ->> 'task')::int8, attempt FROM kakehashi_receive('kakehashi', 'soak', 10);
INSERT INTO done SELECT task, attempt FROM received;
SELECT kakehashi_complete('kakehashi', token) FROM received;
COMMIT;
SQL
cat >"$out/order.sql" <<SQL
SELECT * FROM kakehashi_call('kakehashi', 'place', nextval('order_numbers'), 'anna', 1::bigint, 1) AS (kind text, id bigint, total numeric, why text);
\sleep $REST_MILLIS ms
SQL
cat >"$out/files.sql" <<'SQL'
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT rows FROM kakehashi_dump('kakehashi', 'account', 'files:account.parquet', '{"format": "parquet", "overwrite": true}');
DELETE FROM loaded;
SELECT rows_loaded FROM kakehashi_load('kakehashi', 'loaded', 'files:account.parquet', '{"format": "parquet"}');
SELECT 'rows that differ: ' || count(*) FROM account a FULL JOIN loaded l USING (id) WHERE a.balance IS DISTINCT FROM l.balance;
COMMIT;
SQL

# client NAME COMMAND...: the command again and again, in a session of its own, so that its children end with it.
client() {
  local name=$1
  shift
  # shellcheck disable=SC2016 # it is the inner shell's
  setsid bash -c 'over=$1 log=$2; shift 2; while [ ! -e "$over" ]; do "$@" >>"$log" 2>&1 || sleep 1; done' client "$over" "$out/$name.log" "$@" &
  clients+=($!)
}
pgbench=$(pg_bin)/pgbench
[ -x "$pgbench" ] || pgbench=$("$PG_CONFIG" --bindir)/pgbench
bench() { client "$1" "$pgbench" -n -c "$2" -j 1 -T 60 --max-tries=100 -f "$out/$1.sql" "${@:3}"; }
bench transfer 4
bench read 4 -M prepared
bench produce 2
bench consume 2
bench order 2
client files psql -X -q -v ON_ERROR_STOP=1 -At -f "$out/files.sql"
# The sum over HTTP, in one snapshot. A difference is kept, and ends the run.
cat >"$out/http.sh" <<'SH'
answer=$(curl -sS --max-time 30 -u "soak:$SOAK_PASSWORD" "$SOAK_URL/sql" -H 'Content-Type: application/sql' -H 'Accept: text/csv;header=absent' \
  -d 'SELECT sum(balance) FROM account') || exit 1
case "$answer" in
  "$SOAK_SUM") sleep 0.2 ;;
  [0-9-]*) echo "sum $answer, and $SOAK_SUM is right" >>"$SOAK_WRONG" ;;
  *) printf '%s\n' "$answer"; exit 1 ;;
esac
SH
export SOAK_PASSWORD=$password SOAK_URL=$url SOAK_SUM=$((ACCOUNTS * 100)).00 SOAK_WRONG=$out/wrong
: >"$SOAK_WRONG"
client http bash "$out/http.sh"

# Cells of a sample are empty or 0 while what they ask is killed or begins anew.
millis_of() { # command...: milliseconds that it took, or nothing if it failed
  local before
  before=$(now_millis)
  ! "$@" >/dev/null 2>&1 || printf '%s' $(($(now_millis) - before))
}
blocks_of() { { du -sB1 "$@" 2>/dev/null || true; } | awk '{s += $1} END {printf "%d", s}'; }
tree_sum() { # field of status, pids...: its sum in bytes
  local field=$1
  shift
  # One of them may have gone meanwhile.
  { cat "${@/%//status}" 2>/dev/null || true; } | awk -v f="$field:" '$1 == f {s += $2} END {printf "%d", s * 1024}'
}
count_descriptors() { { ls "/proc/$1/fd" 2>/dev/null || true; } | wc -l; } # pid
sample() {
  local e pids postgres
  e=$(endpoint_pid "$endpoint")
  mapfile -t pids < <(pgrep -P "$(head -1 "$pg/data/postmaster.pid" 2>/dev/null || echo 1)" 2>/dev/null | sed 's|^|/proc/|')
  postgres=$(tree_sum RssAnon "${pids[@]}")
  printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n' $((($(now_millis) - began) / 1000)) \
    "$(tree_sum VmRSS "/proc/${e:-0}")" "$(process_status "${e:-0}" Threads)" "$(count_descriptors "${e:-0}")" \
    "$(blocks_of "$runtime_dir")" "$(blocks_of "$endpoint/data")" "$postgres" "${#pids[@]}" \
    "$(sql -Atc "SELECT used_bytes FROM kakehashi_memory('kakehashi')" 2>/dev/null || true)" \
    "$(sql -Atc "SELECT count(*) FROM made" 2>/dev/null || true)" \
    "$(millis_of sql -Atc 'SELECT balance FROM account WHERE id = 7')" \
    "$(millis_of curl -sS --fail --max-time 30 -u "soak:$password" "$url/sql" -H 'Content-Type: application/sql' -d 'SELECT balance FROM account WHERE id = 7')" >>"$out/samples.csv"
}
echo "seconds,endpoint_rss_bytes,endpoint_threads,endpoint_descriptors,shared_memory_bytes,data_bytes,postgres_private_bytes,postgres_processes,store_bytes,tasks_made,select_millis,http_millis" >"$out/samples.csv"

kills=0
kill_something() {
  local victim
  case $((kills % 4)) in
    0)
      victim="endpoint"
      kill -9 "$(endpoint_pid "$endpoint")"
      start_soaked_endpoint
      ;;
    1)
      victim="application's process"
      pgrep -P "$(endpoint_pid "$endpoint")" | head -1 | xargs -r kill -9
      ;;
    2)
      victim="backend"
      sql -Atc "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' LIMIT 1" | xargs -r kill -9
      ;;
    3)
      victim="postmaster"
      local children
      mapfile -t children < <(pgrep -P "$(head -1 "$pg/data/postmaster.pid")")
      kill -9 "$(head -1 "$pg/data/postmaster.pid")"
      # Its children notice it, and end. The next one would refuse to start beside them.
      postmaster_children_gone() { local child; for child in "${children[@]}"; do [ ! -d "/proc/$child" ] || return 1; done; }
      wait_until 60 postmaster_children_gone || die "children of a killed postmaster did not end within 60 s" "Its log is $pg/log."
      start_soaked_postgres
      ;;
  esac
  kills=$((kills + 1))
  printf '%s,%s\n' $((($(now_millis) - began) / 1000)) "$victim" >>"$out/kills.csv"
  say "   after $((($(now_millis) - began) / 1000)) s: killed the $victim"
}
: >"$out/kills.csv"

began=$(now_millis)
measured_from=$(processor_ticks)
next_kill=$KILL_SECONDS
while passed=$((($(now_millis) - began) / 1000)) && [ "$passed" -lt "$seconds" ]; do
  [ ! -s "$SOAK_WRONG" ] || die "$(head -1 "$SOAK_WRONG")" "Servers' logs are in $home."
  sample
  if [ "$KILL_SECONDS" -gt 0 ] && [ "$passed" -ge "$next_kill" ]; then
    kill_something
    next_kill=$((next_kill + KILL_SECONDS))
  fi
  sleep "$SAMPLE_SECONDS"
done

step "what is there at the end"
failed=()
# Lets each client end what it is at. Its status is that of its last turn, which a kill may have ended: what holds is looked at below.
await_clients() {
  local client
  touch "$over"
  for client in "${clients[@]}"; do wait "$client" || true; done
  clients=()
}
expect() { # name value wanted
  if [ "$2" = "$3" ]; then say "   $1: $2"; else
    say "   $1: $2, and $3 is right"
    failed+=("$1")
  fi
}
# Consumers go on until the queue is empty; what makes tasks has ended.
await_clients
rm "$over"
bench consume 2
# What a kill has left prepared is decided by a new session.
all_done() { [ "$(sql -Atc 'SELECT count(*) FROM made m WHERE NOT EXISTS (SELECT FROM done d WHERE d.task = m.task)')" = 0 ]; }
wait_until 300 all_done || true # what is missing is said below
expect "tasks made and not done" "$(sql -Atc 'SELECT count(*) FROM made WHERE task NOT IN (SELECT task FROM done)')" 0
expect "tasks done and not made" "$(sql -Atc 'SELECT count(*) FROM done WHERE task NOT IN (SELECT task FROM made)')" 0
await_clients
sql -Atc "SELECT kakehashi_resolve('kakehashi')" >/dev/null
expect "sum of balances" "$(sql -Atc 'SELECT sum(balance) FROM account')" "$SOAK_SUM"
expect "balances that the journal does not explain" "$(sql -Atc 'SELECT count(*) FROM account a
  LEFT JOIN (SELECT account, sum(change) AS change FROM journal GROUP BY 1) j ON j.account = a.id WHERE a.balance <> 100 + coalesce(j.change, 0)')" 0
expect "prepared transactions left" "$(sql -Atc "SELECT (SELECT count(*) FROM pg_prepared_xacts) + (SELECT count(*) FROM kakehashi_prepared_transactions('kakehashi'))")" 0
# A kill cuts a turn off anywhere, so the line has a name.
expect "loads that differ from their file" "$(grep -c '^rows that differ: [1-9]' "$out/files.log" || true)" 0 # grep ends with 1 if it counts none
[ "$(grep -c '^rows that differ: 0$' "$out/files.log")" -gt 0 ] || failed+=("no load has ended")
stop_endpoint "$endpoint"
if java_in -jar "$RUN_DIR/lib/kakehashi-endpoint.jar" check "$endpoint/data" >"$out/check.log" 2>&1; then say "   check: nothing found"; else
  tail -5 "$out/check.log"
  failed+=("check")
fi

{
  printf '# make soak HOURS=%s\n\nCommit %s, %s, %s processors, PostgreSQL %s, from %s. %s kills.\n\n' "$HOURS" "$(git rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "$(date -u -d "@$((began / 1000))" '+%F %H:%M UTC')" "$kills"
  for name in transfer read produce consume order; do
    awk -v name="$name" '/^number of transactions actually/ {n += $6} END {printf "* %s: %d transactions\n", name, n}' "$out/$name.log"
  done
  printf '\n'
  python3 .make/soak_report.py "$out/samples.csv" "$out/kills.csv" "$out/picture.svg"
  printf '\n'
  shared_since "$measured_from"
  [ ${#failed[@]} = 0 ] && printf '\nAll that was expected held.\n' || printf '\n**Failed**: %s\n' "${failed[*]}"
} | tee "$out/report.md"
say "kept in $out/report.md and $out/picture.svg"
[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}" "Logs are in $out."
