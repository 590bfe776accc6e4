#!/bin/bash
# Makes the database at the first start, with the engine as a foreign server, then is the server. Other hosts need the password POSTGRES_PASSWORD.
set -euo pipefail
data=/var/lib/postgresql/compose

if [ ! -f "$data/made" ]; then
  rm -rf "$data"
  initdb -D "$data" -U postgres --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
  cat >>"$data/postgresql.conf" <<'CONF'
listen_addresses = '*'
unix_socket_directories = '/var/run/postgresql'
shared_preload_libraries = 'kakehashi_fdw'
max_prepared_transactions = 64
CONF
  # Without a listener on the network until it is complete.
  pg_ctl -D "$data" -o "-c listen_addresses=''" -w -s start
  psql -X -q -v ON_ERROR_STOP=1 -v password="${POSTGRES_PASSWORD:-}" -h /var/run/postgresql -U postgres <<'SQL'
SELECT format('ALTER ROLE postgres PASSWORD %L', :'password') WHERE :'password' <> '' \gexec
CREATE EXTENSION kakehashi_fdw;
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (requirepeer '5433');
CREATE USER MAPPING FOR PUBLIC SERVER kakehashi;
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE IF NOT EXISTS account (id int8 PRIMARY KEY, owner text, balance numeric(15,2))');
IMPORT FOREIGN SCHEMA public LIMIT TO (account) FROM SERVER kakehashi INTO public;
SQL
  pg_ctl -D "$data" -w -s stop
  touch "$data/made"
fi
exec postgres -D "$data"
