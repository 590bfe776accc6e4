#!/usr/bin/env bash
# A cluster of three PostgreSQL servers under Patroni, with one etcd, on this machine: for trials of the engine "pgwire". Debian's packages patroni and etcd-server.
#   patroni.sh start            makes and starts it; a database and a role "kakehashi" are there
#   patroni.sh kill N|leader    ends a node as kill -9 does: its Patroni and its PostgreSQL
#   patroni.sh restart N        starts a killed node again; without N the one that was killed last
#   patroni.sh status           roles of the nodes; leader: the number of the one that takes writes; addresses: of all
#   patroni.sh stop             ends and removes it
. "$(dirname "$0")/lib.sh"
find_postgres
prepare_run_dir
. "$ROOT/.make/cluster.sh"

home=$RUN_DIR/patroni
NODES=3
bin=$("$PG_CONFIG" --bindir)

for tool in patroni etcd; do
  command -v $tool >/dev/null || die "$tool is not installed" "Run \"apt-get install patroni etcd-server\", and stop the services that it starts."
done

# A process writes its number to a file; it is ours as long as its command line has the directory.
running() { # file
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 1
  tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$home"
}

api() { # node path
  curl -sS -m 3 "http://127.0.0.1:$(cat "$home/$1/api_port")/$2" 2>/dev/null
}

leader() {
  local node
  for node in $(seq $NODES); do
    if [ "$(curl -s -m 3 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$(cat "$home/$node/api_port")/primary" 2>/dev/null)" = 200 ]; then
      printf '%s\n' "$node"
      return
    fi
  done
  return 1
}

addresses() {
  local node list=''
  for node in $(seq $NODES); do list=$list${list:+,}127.0.0.1:$(cat "$home/$node/port"); done
  printf '%s\n' "$list"
}

start_etcd() {
  ! running "$home/etcd/pid" || return 0
  local client peer
  server_mkdir "$home/etcd"
  [ -f "$home/etcd/client_port" ] || {
    client=$(free_port 23790)
    peer=$(free_port $((client + 1)))
    as_server sh -c "echo $client > '$home/etcd/client_port'; echo $peer > '$home/etcd/peer_port'"
  }
  client=$(cat "$home/etcd/client_port") peer=$(cat "$home/etcd/peer_port")
  exec_as_server setsid etcd --name kakehashi --data-dir "$home/etcd/data" \
    --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "kakehashi=http://127.0.0.1:$peer" >"$home/etcd/log" 2>&1 </dev/null &
  as_server sh -c "echo $! > '$home/etcd/pid'"
  disown
  etcd_answers() { curl -fsS -m 1 "http://127.0.0.1:$client/health"; }
  wait_until 30 etcd_answers || { tail -20 "$home/etcd/log" >&2; die "etcd did not start"; }
}

configure() { # node
  local node=$1 dir=$home/$1
  server_mkdir "$dir" "$dir/socket"
  [ ! -f "$dir/config.yml" ] || return 0
  local port api
  port=$(free_port $((54400 + 10 * node)))
  api=$(free_port $((28000 + 10 * node)))
  as_server sh -c "echo $port > '$dir/port'; echo $api > '$dir/api_port'"
  as_server tee "$dir/config.yml" >/dev/null <<YML
scope: kakehashi
name: node$node
restapi: {listen: "127.0.0.1:$api", connect_address: "127.0.0.1:$api"}
etcd3: {host: "127.0.0.1:$(cat "$home/etcd/client_port")"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    # A commit is acknowledged when a second node has it: what leads next has all that was acknowledged.
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 120
        max_prepared_transactions: 50
        shared_buffers: 64MB
        wal_keep_size: 256MB
        jit: "off"
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, data-checksums]
  post_bootstrap: "$home/bootstrap.sh"
postgresql:
  listen: "127.0.0.1:$port"
  connect_address: "127.0.0.1:$port"
  data_dir: "$dir/data"
  bin_dir: "$bin"
  pgpass: "$dir/pgpass"
  # Without it a copy waits for a checkpoint that takes its time.
  basebackup: {checkpoint: fast}
  authentication:
    superuser: {username: postgres, password: "$(cat "$home/password")"}
    replication: {username: replicator, password: "$(cat "$home/password")"}
    rewind: {username: rewinder, password: "$(cat "$home/password")"}
  parameters: {unix_socket_directories: "$dir/socket"}
  pg_hba:
    - local all all trust
    - host all all 127.0.0.1/32 scram-sha-256
    - host replication replicator 127.0.0.1/32 scram-sha-256
YML
}

start_node() { # node
  local dir=$home/$1
  ! running "$dir/pid" || return 0
  as_server sh -c ": >> '$dir/log'"
  PATH=$bin:$PATH exec_as_server setsid patroni "$dir/config.yml" >>"$dir/log" 2>&1 </dev/null &
  as_server sh -c "echo $! > '$dir/pid'"
  disown
}

serves() { # node: its PostgreSQL takes connections, leads or follows
  [ "$(curl -s -m 3 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$(cat "$home/$1/api_port")/health" 2>/dev/null)" = 200 ]
}

start() {
  server_mkdir "$home"
  [ -f "$home/password" ] || as_server sh -c "umask 077; od -An -N18 -tx1 /dev/urandom | tr -d ' \n' > '$home/password'"
  as_server tee "$home/bootstrap.sh" >/dev/null <<SH
#!/bin/sh
exec psql -X -v ON_ERROR_STOP=1 -d "\$1" -c "CREATE ROLE kakehashi LOGIN PASSWORD '$(cat "$home/password")'" \\
  -c "GRANT pg_signal_backend, pg_read_all_stats TO kakehashi" -c "CREATE DATABASE kakehashi OWNER kakehashi"
SH
  as_server chmod 0700 "$home/bootstrap.sh"
  start_etcd
  local node
  for node in $(seq $NODES); do configure "$node"; done
  start_node 1
  wait_until 120 leader || { tail -20 "$home/1/log" >&2; die "the first node did not start"; }
  for node in $(seq 2 $NODES); do start_node "$node"; done
  for node in $(seq $NODES); do
    wait_until 120 serves "$node" || { tail -20 "$home/$node/log" >&2; die "node $node did not start"; }
  done
  has_synchronous() { api "$(leader)" cluster | grep -q sync_standby; }
  wait_until 60 has_synchronous || die "no node follows synchronously"
  say "three nodes run: $(addresses), password of \"kakehashi\" in $home/password"
}

kill_node() { # node
  local node=$1 pid
  [ "$node" != leader ] || node=$(leader) || die "no node leads"
  pid=$(cat "$home/$node/pid")
  running "$home/$node/pid" || die "node $node does not run"
  # Its PostgreSQL may be down.
  # shellcheck disable=SC2046
  kill_with_children "$pid" $(head -1 "$home/$node/data/postmaster.pid" 2>/dev/null)
  as_server sh -c "echo $node > '$home/killed'"
  say "killed node $node"
}

restart_node() {
  local node=${1:-$(cat "$home/killed")}
  start_node "$node"
  wait_until 120 serves "$node" || { tail -20 "$home/$node/log" >&2; die "node $node did not come back"; }
  has_synchronous() { api "$(leader)" cluster | grep -q sync_standby; }
  wait_until 60 has_synchronous || die "no node follows synchronously"
  say "node $node is back"
}

stop() {
  local node pid
  for node in $(seq $NODES) etcd; do
    if running "$home/$node/pid"; then
      kill -TERM "$(cat "$home/$node/pid")"
      ended() { ! running "$home/$node/pid"; }
      wait_until 60 ended || die "node $node did not stop"
    fi
    [ ! -d "$home/$node/data" ] || [ "$node" = etcd ] || stop_postgres "$home/$node"
  done
  rm -rf "$home"
}

case "${1:-}" in
  start) start ;;
  kill) kill_node "${2:?which node}" ;;
  restart) restart_node "${2:-}" ;;
  leader) leader ;;
  addresses) addresses ;;
  status) for node in $(seq $NODES); do say "node $node: $(api "$node" patroni || echo 'does not answer')"; done ;;
  stop) stop ;;
  *) die "usage: patroni.sh start | kill N|leader | restart [N] | status | leader | addresses | stop" ;;
esac
