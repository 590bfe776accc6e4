#!/usr/bin/env bash
# make check-cassert: pg_regress and isolation specs against a PostgreSQL whose assertions are on. It is built from the source package of the
# installed major version below .run/ (some minutes, 1 GB), and kept there until "make clean".
#   PG_SOURCE=   directory with sources of PostgreSQL, in place of the package
# Needs apt-get and dpkg-dev (unless PG_SOURCE is given), libicu-dev and libxml2-dev.
. "$(dirname "$0")/lib.sh"

find_java
find_postgres
prepare_run_dir
away=$RUN_DIR/cassert
prefix=$away/pgsql

# Lists and packages of our own: the system's sources are not touched, and nobody has to be root.
fetch_source() {
  local apt=$away/apt suite
  suite=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  command -v apt-get >/dev/null && command -v dpkg-source >/dev/null ||
    die "could not find apt-get and dpkg-source" "Set PG_SOURCE to a directory with the sources of PostgreSQL $PG_MAJOR."
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$apt/sources.list"
  local options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache")
  (
    cd "$away"
    apt-get "${options[@]}" update
    apt-get "${options[@]}" source --download-only "postgresql-$PG_MAJOR"
    mkdir -p source
    tar -C source --strip-components=1 -xf "postgresql-$PG_MAJOR"_*.orig.tar.*
  ) >"$away/fetch.log" 2>&1 || die "could not get the sources of PostgreSQL $PG_MAJOR" \
    "The output is in $away/fetch.log. Set PG_SOURCE to a directory with them."
}

build_postgres() {
  local source=$away/source
  mkdir -p "$away"
  if [ -n "${PG_SOURCE:-}" ]; then source=$(cd "$PG_SOURCE" && pwd -P); elif [ ! -x "$source/configure" ]; then fetch_source; fi
  step "PostgreSQL $PG_MAJOR with assertions"
  mkdir -p "$away/build"
  (
    cd "$away/build"
    "$source/configure" --prefix="$prefix" --enable-cassert --enable-debug --with-icu --with-libxml --without-readline --without-zlib \
      CFLAGS='-O1 -g -fno-omit-frame-pointer'
    make -s -j"$(nproc)" -C src all
    for part in src src/test/regress src/test/isolation; do make -s -C "$part" install; done
  ) >"$away/build.log" 2>&1 || die "could not build PostgreSQL" "The output is in $away/build.log; libicu-dev and libxml2-dev are needed."
  rm -rf "$away/build" "$away/apt"
}

[ -x "$prefix/bin/pg_config" ] || build_postgres
[ "$("$prefix/bin/pg_config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" = "$PG_MAJOR" ] ||
  die "$prefix is another major version than $PG_MAJOR" "Remove it."

# Objects of this server are not for another one.
forget_objects() {
  local status=$?
  trap - EXIT
  make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" clean
  rm -f "$ROOT/target/stamps/extension"
  exit $status
}
export PG_CONFIG=$prefix/bin/pg_config
trap forget_objects EXIT
trap 'exit 130' INT TERM
make -s -C "$ROOT/fdw-extension" PG_CONFIG="$PG_CONFIG" clean
"$ROOT/.make/extension.sh"
"$ROOT/.make/stage.sh"
"$ROOT/.make/regress.sh"
