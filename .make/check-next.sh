#!/usr/bin/env bash
# make check-next: whether the extension is ready for the PostgreSQL of PG_CONFIG, which may be one that is not released yet.
#   1. new members of nodes and the like, which no compiler finds: .make/server_api.py
#   2. every file compiled with warnings as errors, also after one has failed: what has gone, or has another type
#   3. pg_regress and isolation specs, if the server is there and not its headers alone (COMPILE_ONLY=yes leaves them out)
# Steps 1 and 2 leave alone what was built for another server; after step 3 the next "make build" makes it anew.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

[ -n "${PG_CONFIG:-}" ] || die "PG_CONFIG is not set" \
  "Say which server: make check-next PG_CONFIG=/usr/lib/postgresql/20/bin/pg_config"
find_postgres
status=0

step "members that PostgreSQL $PG_MAJOR has, and the extension has not been looked at for"
if .make/server_api.py "$("$PG_CONFIG" --includedir-server)"; then
  say "none"
else
  say "Look where the extension reads them. Then add them to fdw-extension/test/server-api.txt."
  status=1
fi

step "every file, for $("$PG_CONFIG" --version)"
tree=$ROOT/target/check-next
log=$ROOT/target/check-next.log
rm -rf "$tree"
mkdir -p "$tree"
(cd fdw-extension && tar -c --exclude=build --exclude='*.o' --exclude='*.bc' --exclude='*.so' Makefile kakehashi_fdw.control include sql src) | tar -C "$tree" -x
# Bitcode would be compiled once more by another compiler.
if make -k -s -j "$(nproc)" -C "$tree" PG_CONFIG="$PG_CONFIG" with_llvm=no check-warnings >"$log" 2>&1; then
  say "compiled without a warning"
else
  grep -E '(error|warning|note):' "$log" | sort -u || tail -20 "$log"
  say "The whole output is in $log."
  status=1
fi
rm -rf "$tree"

if [ $status = 0 ] && [ "${COMPILE_ONLY:-no}" != yes ]; then
  if [ ! -x "$("$PG_CONFIG" --bindir)/postgres" ]; then
    say "there is no server beside $PG_CONFIG: the scripts were not run"
  else
    find_java
    # Objects of this server are not for another one.
    forget_objects() {
      local result=$?
      trap - EXIT
      make -s -C fdw-extension PG_CONFIG="$PG_CONFIG" clean
      rm -f target/stamps/extension
      exit $result
    }
    trap forget_objects EXIT
    trap 'exit 130' INT TERM
    .make/extension.sh
    .make/stage.sh
    .make/regress.sh || status=1
  fi
fi
[ $status = 0 ] || die "the extension is not ready for PostgreSQL $PG_MAJOR"
say "the extension is ready for PostgreSQL $PG_MAJOR"
