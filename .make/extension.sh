#!/usr/bin/env bash
# The C extension. Stages it into a private copy of PostgreSQL's tree, so that neither "make run" nor the tests
# need root or touch the PostgreSQL of the system.
#   extension.sh build        compiles with PGXS
#   extension.sh stage        prints nothing; afterwards .run/pgsql-<major> is the tree
. "$(dirname "$0")/lib.sh"

build() {
  [ -f "$ROOT/fdw-extension/Makefile" ] || { say "the extension has no Makefile yet"; return; }
  find_postgres
  step "extension for PostgreSQL $PG_MAJOR"
  # Objects of another major version have the same names: make would take them for its own.
  local marker=$ROOT/fdw-extension/build/pg-version
  if [ -f "$marker" ] && [ "$(cat "$marker")" != "$("$PG_CONFIG" --version)" ]; then
    make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" clean
  fi
  mkdir -p "${marker%/*}"
  "$PG_CONFIG" --version >"$marker"
  make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" all
}

# PostgreSQL finds its files relative to its binary. A copy of the binaries amid links to everything else is therefore
# a PostgreSQL of its own, a few MB big, into which DESTDIR installs the extension.
stage() {
  find_postgres
  prepare_run_dir
  local tree=$RUN_DIR/pgsql-$PG_MAJOR directory binary
  local bindir libdir sharedir
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
  # Installed files replace links; without this they would be written through them into the system.
  find "$tree" \( -name 'kakehashi*' -o -path '*/bitcode/kakehashi*' \) -type l -delete
  [ ! -f "$ROOT/fdw-extension/Makefile" ] ||
    make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" DESTDIR="$tree" install >/dev/null
  ln -sfn "$tree$bindir" "$tree/bin"
  chmod -R go+rX "$tree"
}

postgres_identity() { stat -c '%s %Y' "$1/postgres"; }

case "${1:-}" in
  build) build ;;
  stage) stage ;;
  *) die "usage: extension.sh build|stage" ;;
esac
