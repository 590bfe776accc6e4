#!/usr/bin/env bash
# .make/sqlsmith.sh: random statements of sqlsmith (Debian's package) over foreign tables and local ones, by a role that is no superuser.
# "ONLY=sqlsmith make soak" runs it. An internal error (XX000) is a finding unless the same statement has one over tables of PostgreSQL. So is
# a backend or an endpoint that dies. Kept in target/sqlsmith/.
#   SQLSMITH_SECONDS=600   how long       SEED=   of the first run; each run of 20,000 statements has the next one
. "$(dirname "$0")/lib.sh"

find_java
find_postgres
command -v sqlsmith >/dev/null || die "sqlsmith is not installed" "Install Debian's package sqlsmith."
"$ROOT/.make/stage.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
home=$RUN_DIR/sqlsmith
out=$ROOT/target/sqlsmith
runtime_dir=/dev/shm/kakehashi-sqlsmith-$$
rm -rf "$out" && mkdir -p "$out"

step "servers"
end_servers_with_script "$home"
start_endpoint "$home/endpoint" "$runtime_dir" --set memory=1GB
start_postgres "$home/pg" 54700 shared_preload_libraries=kakehashi_fdw statement_timeout=5s logging_collector=on log_destination=jsonlog \
  log_directory=log log_filename=sqlsmith log_rotation_age=0 log_rotation_size=0 log_min_error_statement=error restart_after_crash=on
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres

columns='id int8 primary key, a int2, b int4, c float4, d float8, e numeric, f text, g varchar(20), h char(5), i bool, j date, k timestamp, l timestamptz, m interval, n uuid, o bytea, p jsonb, q int4[], r time'
row="i, (i % 100)::int2, i, i / 3.0, i / 7.0, i * 1.01, 'text ' || i, 'v' || (i % 10), 'c', i % 2 = 0, date '2026-01-01' + (i % 300)::int,
  timestamp '2026-01-01' + i * interval '1 hour', timestamptz '2026-01-01Z' + i * interval '1 minute', i * interval '1 minute',
  '00000000-0000-0000-0000-000000000001'::uuid, '\\x01'::bytea, '{\"a\": 1}'::jsonb, array[1, 2, i::int], time '12:00'"
# Two databases have the same tables: one in the engine, the other in PostgreSQL. A third table is local in both.
sql -c 'CREATE DATABASE heap' -c 'CREATE ROLE smith LOGIN'
grants='GRANT USAGE ON SCHEMA smith TO smith; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA smith TO smith'
for database in postgres heap; do
  PGDATABASE=$database sql <<SQL
CREATE EXTENSION kakehashi_fdw;
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir');
CREATE SCHEMA smith;
CREATE TABLE smith.near ($columns);
INSERT INTO smith.near SELECT $row FROM generate_series(1::int8, 500) i;
SQL
done
PGDATABASE=heap sql <<SQL
CREATE TABLE smith.kinds ($columns);
CREATE TABLE smith.parts ($columns);
INSERT INTO smith.kinds SELECT $row FROM generate_series(1::int8, 2000) i;
INSERT INTO smith.parts SELECT $row FROM generate_series(1::int8, 100) i;
$grants;
SQL
sql <<SQL
CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;
CREATE USER MAPPING FOR smith SERVER kakehashi OPTIONS (password_required 'false');
SELECT count(kakehashi_execute('kakehashi', s)) FROM unnest(ARRAY['CREATE ROLE smith LOGIN', 'CREATE SCHEMA smith', 'CREATE TABLE smith.kinds ($columns)',
  'CREATE TABLE smith.parts ($columns)', 'GRANT USAGE ON SCHEMA smith TO smith', 'GRANT SELECT, INSERT, UPDATE, DELETE ON smith.kinds, smith.parts TO smith']) s \\gset
IMPORT FOREIGN SCHEMA smith FROM SERVER kakehashi INTO smith;
INSERT INTO smith.kinds SELECT $row FROM generate_series(1::int8, 2000) i;
INSERT INTO smith.parts SELECT $row FROM generate_series(1::int8, 100) i;
GRANT USAGE ON FOREIGN SERVER kakehashi TO smith;
$grants;
SQL

step "sqlsmith"
seed=${SEED:-$(date +%s)}
ends=$(($(date +%s) + ${SQLSMITH_SECONDS:-600}))
while left=$((ends - $(date +%s))) && [ $left -gt 0 ]; do
  say "   seed $seed"
  # Each statement is a dot or a letter there.
  timeout $left sqlsmith --target="host=$PGHOST port=$PGPORT dbname=postgres user=smith" --exclude-catalog --seed="$seed" --max-queries=20000 --verbose \
    >>"$out/sqlsmith.out" 2>>"$out/sqlsmith.log" || [ $? = 124 ] || die "sqlsmith ended with seed $seed" "Its output is $out/sqlsmith.log."
  seed=$((seed + 1))
done

step "findings"
as_server cat "$home/pg/data/log/sqlsmith.json" >"$out/postgres.json"
[ -n "$(endpoint_pid "$home/endpoint")" ] || die "the endpoint has died" "Its log is $home/endpoint/log."
as_server cat "$home/endpoint/log" >"$out/endpoint.log"
! grep -q " ERROR " "$out/endpoint.log" || die "the endpoint has logged an error" "Its log is $out/endpoint.log."
python3 - "$out/postgres.json" <<'PYTHON'
import collections, json, subprocess, sys

states, internal, deaths = collections.Counter(), {}, []
for line in open(sys.argv[1], errors="replace"):
    entry = json.loads(line)
    if "terminated by signal" in entry.get("message", "") or entry.get("error_severity") == "PANIC":
        deaths.append(entry["message"])
    if entry.get("error_severity") == "ERROR":
        states[entry.get("state_code", "")] += 1
        if entry.get("state_code") == "XX000" and "statement" in entry:
            internal[entry["statement"]] = entry["message"]
print("   errors by SQLSTATE:", ", ".join(f"{state} {count}" for state, count in states.most_common()))
found = []
for statement, message in internal.items():
    # The same over tables of PostgreSQL: what fails there, too, is PostgreSQL's.
    text = f"BEGIN; SET LOCAL statement_timeout = '20s'; {statement.rstrip(';')}; ROLLBACK"
    heap = subprocess.run(
        ["psql", "-X", "-q", "-U", "smith", "-d", "heap", "-v", "VERBOSITY=sqlstate", "-v", "ON_ERROR_STOP=1", "-c", text],
        capture_output=True, text=True, errors="replace")
    if "XX000" not in heap.stderr:
        found.append((message, statement))
for message, statement in found:
    print(f"XX000 {message}\n{statement}\n")
for death in deaths:
    print(death)
print(f"   {len(internal)} internal errors, {len(found)} of which PostgreSQL's own tables do not have; {len(deaths)} processes died")
sys.exit(1 if found or deaths else 0)
PYTHON
say "kept in $out"
