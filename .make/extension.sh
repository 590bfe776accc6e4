#!/usr/bin/env bash
# Compiles the C extension with PGXS for the PostgreSQL of PG_CONFIG.
. "$(dirname "$0")/lib.sh"

find_postgres
cd "$ROOT"
[ -f fdw-extension/Makefile ] || { say "the extension has no Makefile yet"; exit 0; }
step "extension for PostgreSQL $PG_MAJOR"
# Objects of another major version have the same names: make would take them for its own.
marker=fdw-extension/build/pg-version
if [ -f "$marker" ] && [ "$(cat "$marker")" != "$("$PG_CONFIG" --version)" ]; then
  make -s -C fdw-extension PG_CONFIG="$PG_CONFIG" clean
fi
mkdir -p "${marker%/*}"
"$PG_CONFIG" --version >"$marker"
make -s -C fdw-extension PG_CONFIG="$PG_CONFIG" -j "$(nproc)" all
