#!/usr/bin/env bash
# make install: the extension into the PostgreSQL of PG_CONFIG, the endpoint into PREFIX. Needs the right to write there.
# TRAIN=no leaves out the JVM's ahead-of-time cache (.make/train.sh), with which an endpoint starts with half of the work.
. "$(dirname "$0")/lib.sh"

PREFIX=${PREFIX:-/usr/local}
DESTDIR=${DESTDIR:-}
find_java
find_postgres
lib=$DESTDIR$PREFIX/lib/kakehashi
target=$DESTDIR$("$PG_CONFIG" --pkglibdir)
{ mkdir -p "$lib" "$DESTDIR$PREFIX/bin" "$target" && [ -w "$lib" ] && [ -w "$target" ]; } 2>/dev/null ||
  die "could not write to $lib and $target" "Run \"sudo make install\", or set PREFIX and PG_CONFIG."

step "extension for PostgreSQL $PG_MAJOR"
make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" DESTDIR="$DESTDIR" install

step "endpoint in $PREFIX"
# With its time: the JVM compares it with the jar of the training.
install -p -m 0644 "$ROOT/ipc-endpoint/server/target/kakehashi-endpoint.jar" "$lib/kakehashi-endpoint.jar"
install -m 0644 "$ROOT/ipc-endpoint/server/src/main/dist/jvm.options" "$lib/jvm.options"
install -m 0644 "$ROOT/ipc-endpoint/tools/src/main/dist/tools.options" "$lib/tools.options"
install -p -m 0644 "$ROOT/ipc-endpoint/tools/target/kakehashi-tools.jar" "$lib/kakehashi-tools.jar"
rm -f "$lib/kakehashi-endpoint.aot" "$lib/kakehashi-tools.aot" "$lib/kakehashi-endpoint.release"
if [ "${TRAIN:-yes}" != no ]; then
  "$ROOT/.make/stage.sh"
  "$ROOT/.make/train.sh"
  prepare_run_dir
  # The staged jar is the one that was trained; a JVM of another release refuses the cache.
  install -p -m 0644 "$RUN_DIR/lib/kakehashi-endpoint.jar" "$lib/kakehashi-endpoint.jar"
  install -p -m 0644 "$RUN_DIR/lib/kakehashi-tools.jar" "$lib/kakehashi-tools.jar"
  install -m 0644 "$RUN_DIR/lib/kakehashi-endpoint.aot" "$lib/kakehashi-endpoint.aot"
  install -m 0644 "$RUN_DIR/lib/kakehashi-tools.aot" "$lib/kakehashi-tools.aot"
  install -m 0644 "$JAVA_HOME/release" "$lib/kakehashi-endpoint.release"
fi
sed "s|@JAVA@|\${JAVA_HOME:-$JAVA_HOME}|" "$ROOT/packaging/launcher" >"$DESTDIR$PREFIX/bin/kakehashi"
chmod 0755 "$DESTDIR$PREFIX/bin/kakehashi"
[ -d "$ROOT/target/maven" ] || "$ROOT/.make/maven-repository.sh"
mkdir -p "$DESTDIR$PREFIX/share/kakehashi"
rm -rf "$DESTDIR$PREFIX/share/kakehashi/maven"
cp -r "$ROOT/target/maven" "$DESTDIR$PREFIX/share/kakehashi/maven"
# Settings that an administrator has changed stay.
mkdir -p "$DESTDIR$PREFIX/etc/kakehashi"
[ -f "$DESTDIR$PREFIX/etc/kakehashi/kakehashi.conf" ] ||
  install -m 0644 "$ROOT/ipc-endpoint/server/src/main/dist/kakehashi.conf" "$DESTDIR$PREFIX/etc/kakehashi/kakehashi.conf"
[ -f "$DESTDIR$PREFIX/etc/kakehashi/client.conf" ] || {
  cat "$ROOT/packaging/client.conf" && printf 'requirepeer = %s\n' "${KAKEHASHI_OS_USER:-postgres}"
} >"$DESTDIR$PREFIX/etc/kakehashi/client.conf"
say "installed; next: $PREFIX/bin/kakehashi start --config $PREFIX/etc/kakehashi/kakehashi.conf, then CREATE EXTENSION kakehashi_fdw"
