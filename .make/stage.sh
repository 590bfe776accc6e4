#!/usr/bin/env bash
# Stages what was built below .run/, where the servers' OS user can reach it: pgsql-<major>/ is a PostgreSQL of its own with
# the extension in it, lib/ the endpoint. Neither "make run" nor the tests need root or touch the system's PostgreSQL.
. "$(dirname "$0")/lib.sh"

find_java
find_postgres
prepare_run_dir

postgres_identity() { stat -c '%s %Y' "$1/postgres"; }

# PostgreSQL finds its files relative to its binary. A copy of the binaries amid links to everything else is therefore
# a PostgreSQL of its own, a few MB big, into which DESTDIR installs the extension.
stage_postgres() {
  local tree=$RUN_DIR/pgsql-$PG_MAJOR directory binary bindir libdir sharedir
  bindir=$("$PG_CONFIG" --bindir) libdir=$("$PG_CONFIG" --pkglibdir) sharedir=$("$PG_CONFIG" --sharedir)
  if [ "$(cat "$tree/version" 2>/dev/null)" != "$(postgres_identity "$bindir")" ]; then
    rm -rf "$tree"
    for directory in "$libdir" "$sharedir" "$bindir"; do
      mkdir -p "$tree$directory"
      cp -as "$directory/." "$tree$directory/"
    done
    for binary in postgres initdb pg_ctl; do
      cp --remove-destination "$bindir/$binary" "$tree$bindir/$binary"
    done
    postgres_identity "$bindir" >"$tree/version"
  fi
  # An extension installed in the system is linked here; installing through these links would change the system.
  find "$tree" -name '*kakehashi*' -type l -delete
  [ ! -f "$ROOT/fdw-extension/Makefile" ] ||
    make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" DESTDIR="$tree" install >/dev/null
  ln -sfn "$tree$bindir" "$tree/bin"
  chmod -R go+rX "$tree"
}

# Renamed into place: a running JVM keeps the file that it has mapped.
stage_file() { # source name
  mkdir -p "$RUN_DIR/lib"
  cmp -s "$1" "$RUN_DIR/lib/$2" && return
  cp "$1" "$RUN_DIR/lib/$2.new"
  chmod 0644 "$RUN_DIR/lib/$2.new"
  # What was recorded with other files is refused by the JVM, with three lines of complaint.
  case "$2" in
    kakehashi-endpoint.jar) rm -f "$RUN_DIR/lib/kakehashi-endpoint.aot" ;;
    kakehashi-tools.jar) rm -f "$RUN_DIR/lib/kakehashi-tools.aot" ;;
    jvm.options) rm -f "$RUN_DIR/lib/kakehashi-endpoint.aot" ;;
    tools.options) rm -f "$RUN_DIR/lib/kakehashi-tools.aot" ;;
  esac
  mv "$RUN_DIR/lib/$2.new" "$RUN_DIR/lib/$2"
}

stage_endpoint() {
  local server=$ROOT/ipc-endpoint/server tools=$ROOT/ipc-endpoint/tools
  [ ! -f "$server/target/kakehashi-endpoint.jar" ] || stage_file "$server/target/kakehashi-endpoint.jar" kakehashi-endpoint.jar
  # Libraries that JVMs extract go with "make clean"; users have directories of their own in it.
  mkdir -p "$RUN_DIR/tmp"
  chmod 1777 "$RUN_DIR/tmp"
  { cat "$server/src/main/dist/jvm.options" && printf -- '"-Djava.io.tmpdir=%s"\n' "$RUN_DIR/tmp"; } >"$RUN_DIR/jvm.options"
  stage_file "$RUN_DIR/jvm.options" jvm.options
  { cat "$tools/src/main/dist/tools.options" && printf -- '"-Djava.io.tmpdir=%s"\n' "$RUN_DIR/tmp"; } >"$RUN_DIR/tools.options"
  stage_file "$RUN_DIR/tools.options" tools.options
  rm "$RUN_DIR/jvm.options" "$RUN_DIR/tools.options"
  [ ! -f "$tools/target/kakehashi-tools.jar" ] || stage_file "$tools/target/kakehashi-tools.jar" kakehashi-tools.jar
}

# The command, which finds its files beside itself, and the endpoint of "make run" in etc/kakehashi. And curl with the login of .run/env. Both work for root
# and for the servers' user: who may use the endpoint is said by client.conf and by the login, not by who runs them.
stage_launcher() {
  mkdir -p "$RUN_DIR/bin"
  sed "s|@JAVA@|$JAVA_HOME|; s|/../lib/kakehashi$|/../lib|" "$ROOT/packaging/launcher" >"$RUN_DIR/bin/kakehashi.new"
  chmod 0755 "$RUN_DIR/bin/kakehashi.new"
  mv "$RUN_DIR/bin/kakehashi.new" "$RUN_DIR/bin/kakehashi"
  cat >"$RUN_DIR/bin/http.new" <<'HTTP'
#!/bin/sh
# curl with the login of "make run": . .run/env, then as curl.
: "${KAKEHASHI_USER:?is not set: . .run/env}" "${KAKEHASHI_PASSWORD:?is not set: . .run/env}"
exec curl -sS --fail-with-body -u "$KAKEHASHI_USER:$KAKEHASHI_PASSWORD" "$@"
HTTP
  chmod 0755 "$RUN_DIR/bin/http.new"
  mv "$RUN_DIR/bin/http.new" "$RUN_DIR/bin/http"
}

# An engine for tests, which endpoints of theirs have in their class path. It is made of the test classes of the server.
stage_test_engine() {
  local classes=$ROOT/ipc-endpoint/server/target/test-classes package=dev/kakehashi/server/withheld to=$RUN_DIR/lib/test-engine
  [ -d "$classes/$package" ] || return 0
  mkdir -p "$to/$package" "$to/META-INF/services"
  cp "$classes/$package"/*.class "$to/$package/"
  echo dev.kakehashi.server.withheld.WithholdingEngineFactory >"$to/META-INF/services/dev.kakehashi.server.EngineFactory"
  chmod -R go+rX "$to"
}

# A client without PostgreSQL, for tests and for measuring.
stage_ping() {
  make -s -C "$ROOT/fdw-extension/test/ipc" tools
  stage_file "$ROOT/fdw-extension/build/ipc/kh_ping" kh_ping
  chmod 0755 "$RUN_DIR/lib/kh_ping"
}

# Applications, which tests deploy.
stage_examples() {
  local name jar
  for name in functions order-service; do
    for jar in "$ROOT/examples/$name"/target/kakehashi-example-"$name"-*.jar; do
      case "$jar" in *-sources.jar | *-javadoc.jar | *'*'*) ;; *) stage_file "$jar" "kakehashi-example-$name.jar" ;; esac
    done
  done
}

stage_postgres
stage_endpoint
stage_launcher
stage_test_engine
stage_examples
stage_ping
