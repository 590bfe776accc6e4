#!/usr/bin/env bash
# A Citus cluster of one coordinator and three workers on this machine: for trials of the engine "pgwire". Citus is installed for the server that PG_CONFIG names, or is built from
# CITUS_SOURCE, a checkout of its public repository (tag v13.2.2); it goes into a copy of that server, not into the system.
#   citus.sh start                makes and starts it; a database and a role "kakehashi" are there
#   citus.sh kill N|coordinator   ends a node as kill -9 does; workers are 1 to 3
#   citus.sh restart [N]          starts a killed node again; without N the one that was killed last
#   citus.sh addresses            of the coordinator; nodes: of all
#   citus.sh psql [N] ARGUMENTS   psql of a node as superuser, in the database "kakehashi"; without N the coordinator
#   citus.sh stop                 ends it and removes its rows
#   citus.sh remove               removes the server with Citus in it, too
. "$(dirname "$0")/lib.sh"
find_postgres
prepare_run_dir
. "$ROOT/.make/cluster.sh"

home=$RUN_DIR/citus
WORKERS=3
NODES="coordinator $(seq -s ' ' $WORKERS)"
tree=$home/pgsql

# The copy with Citus in it, in place of the one of the tests.
pg_bin() { printf '%s/bin' "$tree"; }

# Node, file of its directory.
of_node() { cat "$home/$1/$2"; }

compile_source() {
  local to=$ROOT/target/citus-source compat=src/include/pg_version_compat.h
  rm -rf "$to"
  git clone -q "$CITUS_SOURCE" "$to" 2>/dev/null || cp -r "$CITUS_SOURCE" "$to"
  # Later releases of PostgreSQL 15 and 16 export a function that Citus has for them, too.
  if grep -q have_createdb_privilege "$("$PG_CONFIG" --includedir-server)/commands/dbcommands.h"; then
    sed -i '/^static inline bool$/{N;/have_createdb_privilege(void)/{s/.*/#include "commands\/dbcommands.h"/;:a;N;/\n}$/!ba;s/\n.*//}}' "$to/$compat"
  fi
  step "Citus, from source"
  (cd "$to" && ./configure --without-libcurl "PG_CONFIG=$PG_CONFIG" && make -j"$(nproc)" with_llvm=no extension && make with_llvm=no "DESTDIR=$tree" install-extension) >"$ROOT/target/citus-build.log" 2>&1 ||
    { tail -20 "$ROOT/target/citus-build.log" >&2; die "Citus could not be built" "The whole output is in $ROOT/target/citus-build.log."; }
}

install() {
  local bindir sharedir control
  [ ! -x "$tree/bin/postgres" ] || return 0
  bindir=$("$PG_CONFIG" --bindir) sharedir=$("$PG_CONFIG" --sharedir)
  control=$sharedir/extension/citus.control
  [ -n "${CITUS_SOURCE:-}" ] || [ -f "$control" ] ||
    die "Citus is not installed for PostgreSQL $PG_MAJOR" "Install it, or name a checkout of its source in CITUS_SOURCE. That needs libzstd-dev liblz4-dev libkrb5-dev libselinux1-dev libpam0g-dev."
  [ -x "$RUN_DIR/pgsql-$PG_MAJOR/bin/postgres" ] || "$ROOT/.make/stage.sh"
  cp -a "$RUN_DIR/pgsql-$PG_MAJOR" "$home.tree"
  [ -f "$control" ] || tree=$home.tree compile_source
  chmod -R go+rX "$home.tree"
  ln -sfn "$tree$bindir" "$home.tree/bin"
  as_server mkdir -p -m 0700 "$home"
  mv "$home.tree" "$tree"
}

node_sql() { # node ARGUMENTS
  local node=$1
  shift
  psql -X -q -v ON_ERROR_STOP=1 -h "$home/$node/socket" -p "$(of_node "$node" port)" -U postgres "$@"
}

start_node() { # node
  local number=$1 base
  [ "$number" != coordinator ] || number=0
  base=$((54700 + 10 * number))
  # Nodes log in to each other with the passwords of this file.
  PGPASSFILE=$home/passwords start_postgres "$home/$1" "$base" shared_preload_libraries=citus max_prepared_transactions=200 max_connections=200 \
    shared_buffers=64MB citus.node_conninfo=sslmode=disable citus.enable_statistics_collection=off citus.recover_2pc_interval=3s jit=off
}

start() {
  local node
  install
  [ -f "$home/password" ] || as_server sh -c "umask 077; od -An -N18 -tx1 /dev/urandom | tr -d ' \n' > '$home/password'
    printf '*:*:*:*:%s\n' \"\$(cat '$home/password')\" > '$home/passwords'"
  for node in $NODES; do
    start_node "$node"
    [ -z "$(node_sql "$node" -d postgres -Atc "SELECT 1 FROM pg_database WHERE datname = 'kakehashi'")" ] || continue
    node_sql "$node" -d postgres -c "ALTER ROLE postgres PASSWORD '$(cat "$home/password")'" \
      -c "CREATE DATABASE kakehashi TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'"
    node_sql "$node" -d kakehashi -c "CREATE EXTENSION citus"
  done
  if [ "$(node_sql coordinator -d kakehashi -Atc 'SELECT count(*) FROM pg_dist_node')" = 0 ]; then
    node_sql coordinator -d kakehashi -c "SELECT citus_set_coordinator_host('localhost', $(of_node coordinator port))" >/dev/null
    for node in $(seq $WORKERS); do
      node_sql coordinator -d kakehashi -c "SELECT citus_add_node('localhost', $(of_node "$node" port))" >/dev/null
    done
    # Citus makes the role on the workers, because it is made behind them.
    node_sql coordinator -d kakehashi -c "CREATE ROLE kakehashi LOGIN PASSWORD '$(cat "$home/password")'" -c "GRANT pg_signal_backend, pg_read_all_stats TO kakehashi"
    for node in $NODES; do node_sql "$node" -d kakehashi -c "SET citus.enable_ddl_propagation = off; ALTER DATABASE kakehashi OWNER TO kakehashi"; done
  fi
  say "a coordinator and $WORKERS workers run: $(nodes), password of \"kakehashi\" in $home/password"
}

nodes() {
  local node list=''
  for node in $NODES; do list=$list${list:+,}127.0.0.1:$(of_node "$node" port); done
  printf '%s\n' "$list"
}

kill_node() { # node
  postgres_running "$home/$1" || die "node $1 does not run"
  kill_with_children "$(head -1 "$home/$1/data/postmaster.pid")"
  gone() { ! postgres_running "$home/$1"; }
  wait_until 30 gone "$1" || die "node $1 was killed and has not ended within 30 s"
  as_server sh -c "echo $1 > '$home/killed'"
  say "killed node $1"
}

# At its port, by which the other nodes know it.
restart_node() { # node
  PGPASSFILE=$home/passwords run_postgres "$home/$1"
  say "node $1 is back"
}

stop() {
  local node
  for node in $NODES; do
    [ ! -d "$home/$node" ] || stop_postgres "$home/$node"
    rm -rf "${home:?}/$node"
  done
}

case "${1:-}" in
  start) start ;;
  kill) kill_node "${2:?which node}" ;;
  restart) restart_node "${2:-$(cat "$home/killed")}" ;;
  addresses) printf '127.0.0.1:%s\n' "$(of_node coordinator port)" ;;
  nodes) nodes ;;
  psql)
    shift
    case "${1:-}" in [1-9] | coordinator) node=$1 && shift ;; *) node=coordinator ;; esac
    node_sql "$node" -d kakehashi "$@"
    ;;
  stop) stop ;;
  remove)
    stop
    rm -rf "$home"
    ;;
  *) die "usage: citus.sh start | kill N|coordinator | restart [N] | addresses | nodes | psql [N] ARGUMENTS | stop | remove" ;;
esac
