# Shared by the scripts behind the Makefile: where the tools are, who runs the servers, where they live.
# Sourced, never run. Sets ROOT; every function that finds something dies with a remedy when it cannot.

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
readonly ROOT
readonly JAVA_WANTED=25
readonly SPARK_JAVA="17 21" # what Spark 4 runs on
MVN=${MVN:-mvn}

say() { printf '%s\n' "$*"; }
step() { printf '\033[1m== %s\033[0m\n' "$*"; }
die() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint:  %s\n' "$2" >&2
  exit 1
}

# Seconds with one decimal since $1 (a value of now_millis).
now_millis() { date +%s%3N; }
elapsed() { local ms=$(($(now_millis) - $1)); printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100)); }

# Ticks of all processors: in all, taken by other guests of the host, used by processes with a nice value above 0.
processor_ticks() { awk '/^cpu / {print $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9, $9, $3}' /proc/stat; }

# What a measurement shared its processors with since "$1" (a value of processor_ticks), which is what its ratios suffer from.
shared_since() {
  awk -v b="$1" -v e="$(processor_ticks)" 'BEGIN {split(b, x); split(e, y); t = y[1] - x[1]; if (t < 1) t = 1
    printf "of the processors\x27 time %.0f %% went to other guests of the host, %.0f %% to processes of low priority\n", (y[2] - x[2]) / t * 100, (y[3] - x[3]) / t * 100}'
}

java_major() { # feature release of the JDK in $1, or nothing
  [ -x "$1/bin/javac" ] || return 0
  "$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'
}

# JAVA_HOME if it is new enough, else the oldest sufficient JDK under /usr/lib/jvm. Prints nothing if there is none.
locate_java() {
  local home major best='' best_major=999
  major=$(java_major "${JAVA_HOME:-/nonexistent}")
  if [ "${major:-0}" -ge $JAVA_WANTED ]; then
    printf '%s\n' "$JAVA_HOME"
    return
  fi
  for home in /usr/lib/jvm/*; do
    [ -L "$home" ] && continue
    major=$(java_major "$home")
    if [ "${major:-0}" -ge $JAVA_WANTED ] && [ "$major" -lt $best_major ]; then
      best=$home best_major=$major
    fi
  done
  [ -z "$best" ] || printf '%s\n' "$best"
}

# A JDK or JRE under /usr/lib/jvm that Spark runs on. Prints nothing if there is none.
locate_spark_java() {
  local wanted home
  for wanted in $SPARK_JAVA; do
    for home in /usr/lib/jvm/*; do
      [ ! -L "$home" ] && [ -x "$home/bin/java" ] || continue
      if grep -q "^JAVA_VERSION=\"$wanted[.\"]" "$home/release" 2>/dev/null; then
        printf '%s\n' "$home"
        return
      fi
    done
  done
}

find_java() {
  JAVA_HOME=$(locate_java)
  [ -n "$JAVA_HOME" ] || die "no JDK $JAVA_WANTED found in JAVA_HOME or under /usr/lib/jvm" \
    "Run \"make deps\", or set JAVA_HOME to a JDK $JAVA_WANTED."
  export JAVA_HOME
}

# pg_config of the newest PostgreSQL that can build extensions; PG_CONFIG overrides.
locate_pg_config() {
  local candidate
  if [ -n "${PG_CONFIG:-}" ]; then
    printf '%s\n' "$PG_CONFIG"
    return
  fi
  for candidate in $(ls -d /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | sort -t/ -k5,5nr); do
    [ -f "$("$candidate" --pgxs)" ] && [ -x "$("$candidate" --bindir)/postgres" ] || continue
    printf '%s\n' "$candidate"
    return
  done
}

find_postgres() {
  PG_CONFIG=$(locate_pg_config)
  [ -n "$PG_CONFIG" ] && [ -x "$PG_CONFIG" ] || die "no PostgreSQL server with development files found" \
    "Run \"make deps\", or set PG_CONFIG."
  PG_MAJOR=$("$PG_CONFIG" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  export PG_CONFIG PG_MAJOR
}

# PostgreSQL refuses to run as root, and the endpoint runs as the same user, so that the two are one principal.
find_server_user() {
  if [ "$(id -u)" != 0 ]; then
    SERVER_USER=$(id -un)
    return
  fi
  SERVER_USER=${KAKEHASHI_OS_USER:-postgres}
  id -u "$SERVER_USER" >/dev/null 2>&1 || die "OS user \"$SERVER_USER\" does not exist" \
    "Run \"make deps\" (Debian's package creates \"postgres\"), or set KAKEHASHI_OS_USER."
}

# Runs a command as the user of the servers, without a shell or a PAM session in between: $! is the command itself.
as_server() { (exec_as_server "$@"); }

# The same in place of this shell, so that a background process is the command itself and not a shell that waits for it.
exec_as_server() {
  if [ "$(id -u)" = 0 ]; then
    exec setpriv --reuid="$SERVER_USER" --regid="$(id -g "$SERVER_USER")" --init-groups \
      env HOME="$RUN_DIR" USER="$SERVER_USER" LOGNAME="$SERVER_USER" "$@"
  else
    exec "$@"
  fi
}

server_can_reach() { (cd / && RUN_DIR=/ as_server test -x "$1") 2>/dev/null; }

# .run in the checkout. If the servers' user cannot reach it there (a checkout below /root), the real directory is in
# /var/tmp and .run is a link to it; RUN_DIR is then the real path.
prepare_run_dir() {
  local link=$ROOT/.run away
  find_server_user
  if [ ! -e "$link" ]; then
    rm -f "$link"
    if server_can_reach "$ROOT"; then
      mkdir "$link"
    else
      away=/var/tmp/kakehashi-$(printf '%s' "$ROOT" | sha256sum | cut -c1-12)
      mkdir -p "$away"
      ln -s "$away" "$link"
      say "user \"$SERVER_USER\" cannot reach $ROOT: .run is a link to $away"
    fi
    [ "$(id -u)" != 0 ] || chown "$SERVER_USER:" "$link/."
    chmod 0755 "$link/."
  fi
  RUN_DIR=$(cd "$link" && pwd -P)
  server_can_reach "$RUN_DIR" || die "user \"$SERVER_USER\" cannot reach $RUN_DIR" \
    "Run \"make clean\", which removes it, and try again."
  export RUN_DIR
}

server_mkdir() { as_server mkdir -p -m 0700 "$@"; }

# Whether something has the TCP port $1: a listener, or a connection that goes out from there. Closed ones (06) do not count.
has_port() {
  local files=(/proc/net/tcp)
  [ ! -e /proc/net/tcp6 ] || files+=(/proc/net/tcp6)
  awk -v port="$(printf ':%04X' "$1")" \
    '$4 != "06" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }' "${files[@]}"
}

# A TCP port that nothing has.
free_port() {
  local port
  for port in $(seq "$1" $(($1 + 200))); do
    if ! has_port "$port"; then
      printf '%s\n' "$port"
      return
    fi
  done
  die "no free TCP port between $1 and $(($1 + 200))"
}

# Waits until a command succeeds, trying ten times a second for $1 seconds. Only for conditions nobody announces.
wait_until() {
  local tries=$(($1 * 10))
  shift
  while ! "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.1
  done
}
