# Private PostgreSQL servers and endpoints. Sourced after lib.sh; needs RUN_DIR (prepare_run_dir).
#
# A server lives in one directory: data/, socket/, log, port. Local connections are trusted, because only its OS user
# (and root) can enter socket/; TCP connections from this host need the password in the file "password".

pg_bin() { printf '%s/pgsql-%s/bin' "$RUN_DIR" "$PG_MAJOR"; }

postgres_running() { # directory
  [ -f "$1/data/postmaster.pid" ] && [ "$(cat "/proc/$(head -1 "$1/data/postmaster.pid")/comm" 2>/dev/null)" = postgres ]
}

# start_postgres DIRECTORY FIRST_PORT [NAME=VALUE...]: makes the cluster if there is none, starts it with these settings.
start_postgres() {
  local home=$1 port setting bin
  bin=$(pg_bin)
  if postgres_running "$home"; then return; fi
  server_mkdir "$home" "$home/socket"
  if [ -f "$home/data/PG_VERSION" ] && [ "$(cat "$home/data/PG_VERSION")" != "$PG_MAJOR" ]; then
    die "$home/data belongs to PostgreSQL $(cat "$home/data/PG_VERSION"), and PG_CONFIG is of $PG_MAJOR" "Run \"make clean\", or set PG_CONFIG."
  fi
  if [ ! -f "$home/data/PG_VERSION" ]; then
    as_server sh -c "umask 077; od -An -N18 -tx1 /dev/urandom | tr -d ' \n' > '$home/password'"
    as_server "$bin/initdb" -D "$home/data" -U postgres --auth-local=trust --auth-host=scram-sha-256 \
      --pwfile="$home/password" --encoding=UTF8 --locale=C.UTF-8 >"$ROOT/target/initdb.log" 2>&1 ||
      { cat "$ROOT/target/initdb.log" >&2; die "initdb failed"; }
  fi
  port=$(free_port "$2")
  shift 2
  {
    printf "port = %s\nlisten_addresses = 'localhost'\nunix_socket_directories = '%s'\n" "$port" "$home/socket"
    printf "cluster_name = 'kakehashi'\nlogging_collector = off\n"
    for setting in "$@"; do printf "%s = '%s'\n" "${setting%%=*}" "${setting#*=}"; done
  } | as_server tee "$home/data/postgresql.auto.conf" >/dev/null
  run_postgres "$home"
  as_server sh -c "echo $port > '$home/port'"
}

# Starts the server of a directory, with the settings that it has.
run_postgres() { # directory
  as_server "$(pg_bin)/pg_ctl" -D "$1/data" -l "$1/log" -w -t 60 -s start ||
    { as_server tail -20 "$1/log" >&2; die "could not start PostgreSQL" "Its log is $1/log."; }
}

# Ends processes as kill -9 does, also those that they have started, which would end by themselves a little later. One that has ended since is no failure.
kill_with_children() { # process id ...
  local pid pids=$*
  for pid in "$@"; do pids="$pids $(pgrep -P "$pid" | tr '\n' ' ' || true)"; done
  # shellcheck disable=SC2086
  kill -KILL $pids 2>/dev/null || true
}

stop_postgres() { # directory
  if postgres_running "$1"; then
    kill -INT "$(head -1 "$1/data/postmaster.pid")" # fast shutdown
    postgres_ended() { ! postgres_running "$1"; }
    wait_until 60 postgres_ended "$1" || die "PostgreSQL in $1 did not stop within 60 s" "Its log is $1/log."
    say "stopped PostgreSQL in $1"
  fi
}

endpoint_pid() { # directory: process id, or nothing when it has ended
  local pid
  pid=$(cat "$1/pid" 2>/dev/null) || return 0
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = java ] && ! only_zombie "$pid" && printf '%s\n' "$pid" || return 0
}

process_status() { sed -n "s/^$2:\t\([^ ]*\).*/\1/p" "/proc/$1/status" 2>/dev/null; } # pid field: empty when the process is gone

# Ended, and nobody has asked how. A zombie with more threads still gives its memory back.
only_zombie() { [ "$(process_status "$1" State) $(process_status "$1" Threads)" = "Z 1" ]; }

# Whether a process of this id ends without being able to do anything about it: it exits, or SIGKILL is under way.
# It still has its name, files and locks. Gigabytes of memory take some tenths of a second.
process_dies() { # pid
  local line fields pending
  line=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  read -ra fields <<<"${line##*) }"
  pending=$(process_status "$1" ShdPnd)
  # The flag PF_EXITING; bit 8 is signal 9.
  [ "${fields[0]}" = Z ] || ((fields[6] & 4)) || ((0x${pending:-0} & 0x100))
}

# Waits until an endpoint that dies has ended; for one that lives it does nothing.
await_dying_endpoint() { # directory
  local pid
  pid=$(endpoint_pid "$1")
  [ -n "$pid" ] && process_dies "$pid" || return 0
  dying_ended() { [ "$(endpoint_pid "$1")" != "$pid" ]; }
  wait_until 60 dying_ended "$1" || die "the endpoint, process $pid, was killed and has not ended within 60 s"
}

# What the JVM learned in the training of .make/train.sh, if there was one with these files; it refuses another jar's.
trained_option() { [ ! -f "$RUN_DIR/lib/kakehashi-endpoint.aot" ] || printf -- '-XX:AOTCache=%s\n' "$RUN_DIR/lib/kakehashi-endpoint.aot"; }

# start_endpoint DIRECTORY RUNTIME_DIRECTORY [OPTION...]: starts an endpoint with its data in DIRECTORY/data, waits until it listens.
# JVM_OPTION, if set, is in place of the trained cache.
start_endpoint() {
  local home=$1 runtime_dir=$2 pid jvm_option
  shift 2
  jvm_option=${JVM_OPTION:-$(trained_option)}
  await_dying_endpoint "$home"
  [ -z "$(endpoint_pid "$home")" ] || return 0
  server_mkdir "$home"
  as_server sh -c "echo '$runtime_dir' > '$home/runtime_dir'"
  : | as_server tee -a "$home/log" >/dev/null
  # Of its own session, so that Ctrl-C in this terminal does not reach it.
  exec_as_server setsid "$JAVA_HOME/bin/java" "@$RUN_DIR/lib/jvm.options" ${jvm_option:+"$jvm_option"} \
    -jar "$RUN_DIR/lib/kakehashi-endpoint.jar" start --runtime-directory "$runtime_dir" --data-directory "$home/data" "$@" >>"$home/log" 2>&1 </dev/null &
  pid=$!
  disown
  as_server sh -c "echo $pid > '$home/pid'"
  endpoint_listens() { [ ! -d "/proc/$pid" ] || grep -q " 00010000 .* $runtime_dir/endpoint.sock\$" /proc/net/unix; }
  wait_until 180 endpoint_listens && [ -d "/proc/$pid" ] ||
    { tail -20 "$home/log" >&2; die "could not start the endpoint" "Its log is $home/log."; }
}

stop_endpoint() { # directory
  local pid
  pid=$(endpoint_pid "$1")
  if [ -n "$pid" ]; then
    kill -TERM "$pid"
    endpoint_ended() { [ -z "$(endpoint_pid "$1")" ]; }
    wait_until 60 endpoint_ended "$1" || die "the endpoint, process $pid, did not stop within 60 s" "Its log is $1/log."
    say "stopped the endpoint, process $pid"
  fi
  # A killed endpoint leaves its files in memory.
  case "$(cat "$1/runtime_dir" 2>/dev/null)" in
    /dev/shm/kakehashi-*) rm -rf --one-file-system "$(cat "$1/runtime_dir")" ;;
  esac
  rm -f "$1/pid" "$1/runtime_dir"
}

# Ends the servers in the directories of DIRECTORY, which goes.
drop_servers() { # directory
  local server
  for server in "$1"/*/; do
    stop_postgres "${server%/}"
    stop_endpoint "${server%/}"
  done
  rm -rf "$1"
}

# end_servers_with_script DIRECTORY: makes a directory for servers of this script, without what a killed run has left in it. When the script ends, also by a
# signal, they do, and the directory goes. end_others, if the script has such a function, is called before that.
end_servers_with_script() {
  servers_home=$1
  local other
  other=$(cat "$servers_home/script" 2>/dev/null || true) # mostly nobody has left anything
  if [ -n "$other" ] && tr '\0' ' ' 2>/dev/null <"/proc/$other/cmdline" | grep -q '\.make/'; then
    die "another run uses $servers_home" "It is process $other: wait for its end."
  fi
  drop_servers "$servers_home"
  server_mkdir "$servers_home"
  echo $$ | as_server tee "$servers_home/script" >/dev/null
  end_servers() {
    local status=$?
    trap - EXIT
    ! declare -F end_others >/dev/null || end_others
    drop_servers "$servers_home"
    exit $status
  }
  trap end_servers EXIT
  trap 'exit 130' INT TERM
}

# A JVM as the servers' user, with the endpoint's options.
java_in() { as_server "$JAVA_HOME/bin/java" "@$RUN_DIR/lib/jvm.options" "$@"; }

# psql with the server that the environment names; stops at the first error.
sql() { psql -X -q -v ON_ERROR_STOP=1 "$@"; }
