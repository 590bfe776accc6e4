#!/usr/bin/env bash
# make clean: stops the servers, then removes what was built or generated at run time. Works without any tool installed.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
.make/stop.sh
.make/docker.sh down
if [ -L .run ]; then
  away=$(readlink .run)
  case "$away" in /var/tmp/kakehashi-*) rm -rf --one-file-system "$away" ;; esac
fi
rm -rf --one-file-system .run
find . -name target -type d -prune -exec rm -rf {} +
find . -name dependency-reduced-pom.xml -type f -delete
if [ -f fdw-extension/Makefile ] && [ -n "$(locate_pg_config)" ]; then
  find_postgres
  make -s -C fdw-extension PG_CONFIG="$PG_CONFIG" clean >/dev/null
fi
rm -rf fdw-extension/build fdw-extension/results
find fdw-extension \( -name '*.o' -o -name '*.so' -o -name '*.bc' -o -name 'regression.*' \) -type f -delete
# What "make test" has installed.
rm -rf "$HOME/.m2/repository/dev/kakehashi"
say "clean"
