#!/usr/bin/env bash
# make install: the extension into the PostgreSQL of PG_CONFIG, the endpoint into PREFIX. Needs the right to write there.
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
install -m 0644 "$ROOT/ipc-endpoint/server/target/kakehashi-endpoint.jar" "$lib/kakehashi-endpoint.jar"
install -m 0644 "$ROOT/ipc-endpoint/server/src/main/dist/jvm.options" "$lib/jvm.options"
install -m 0644 "$ROOT/ipc-endpoint/tools/target/kakehashi-tools.jar" "$lib/kakehashi-tools.jar"
for program in endpoint tools; do
  cat >"$DESTDIR$PREFIX/bin/kakehashi-$program" <<LAUNCHER
#!/bin/sh
# Starts a program of Kakehashi. KAKEHASHI_JAVA_OPTIONS come last, so that they override.
exec "\${JAVA_HOME:-$JAVA_HOME}/bin/java" "@$PREFIX/lib/kakehashi/jvm.options" \${KAKEHASHI_JAVA_OPTIONS:-} \\
  -jar "$PREFIX/lib/kakehashi/kakehashi-$program.jar" "\$@"
LAUNCHER
  chmod 0755 "$DESTDIR$PREFIX/bin/kakehashi-$program"
done
say "installed; next: kakehashi-endpoint start, then CREATE EXTENSION kakehashi_fdw"
