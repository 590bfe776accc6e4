#!/usr/bin/env bash
# make deb: Debian packages of this checkout in target/deb, for this Debian. LINTIAN=no leaves the check out.
# SUITE=trixie: those of another Debian release in target/deb-trixie, built in a container (root only). SUITE=experimental is sid with PostgreSQL 19.
# PG_SUPPORTED_VERSIONS="17 18", a variable of postgresql-common: for which PostgreSQL the extension is built; without it for each from 15 on whose
# headers are installed. ONLY=extension leaves the other packages out, and needs no Java.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

SUITE=${SUITE:-}
extension_only=no
[ "${ONLY:-}" != extension ] || extension_only=yes
if [ -z "$SUITE" ]; then
  wanted=(debhelper fakeroot libicu-dev lintian postgresql-server-dev-all)
  [ $extension_only = yes ] || wanted+=(mkdocs mkdocs-material)
  packages=()
  for package in "${wanted[@]}"; do
    [ "$(dpkg-query -Wf '${db:Status-Status}' $package 2>/dev/null)" = installed ] || packages+=("$package")
  done
  if [ ${#packages[@]} -gt 0 ]; then
    sudo=()
    [ "$(id -u)" = 0 ] || sudo=(sudo)
    step "installing ${packages[*]}"
    "${sudo[@]}" apt-get -q update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${packages[@]}"
  fi
else
  trap '.make/docker.sh down' EXIT
  .make/docker.sh up
  .make/docker.sh base "$SUITE"
  headers=
  [ "$SUITE" != experimental ] || headers=postgresql-server-dev-19
  docker build -q --build-arg BASE="kakehashi-test/base:$SUITE" --build-arg HEADERS=$headers -t "kakehashi-test/build:$SUITE" packaging/build >/dev/null
fi
[ $extension_only = yes ] || find_java

# The sources as they are here, with the jars that "make build" has made: the build of the packages has no network.
out=$ROOT/target/deb${SUITE:+-$SUITE}
tree=$out/kakehashi
rm -rf "$out"
mkdir -p "$tree"
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --null -T - -c | tar -C "$tree" -x
cp -a "$tree/packaging/debian" "$tree/debian"
# Packages of several releases may lie in one place.
[ -z "$SUITE" ] || DEB_VERSION=${DEB_VERSION:-$(sed -n '1s/.*(\(.*\)).*/\1/p' "$tree/debian/changelog")+$SUITE}
if [ -n "${DEB_VERSION:-}" ]; then
  sed -i "1s/(.*)/($DEB_VERSION)/" "$tree/debian/changelog" "$tree/debian/kakehashi-server.NEWS"
fi
if [ $extension_only = no ]; then
  for jar in ipc-endpoint/server/target/kakehashi-endpoint.jar ipc-endpoint/tools/target/kakehashi-tools.jar; do
    [ -f "$jar" ] || die "there is no $jar" "Run \"make build\"."
    mkdir -p "$tree/${jar%/*}"
    ln "$jar" "$tree/$jar" 2>/dev/null || cp "$jar" "$tree/$jar"
  done
  cp -a target/maven "$tree/maven-repository"
fi

# Here, or in a container that sees the tree and the JDK where they are. Debian's JDK has its certificates elsewhere, behind a link.
java=()
if [ $extension_only = no ]; then
  cacerts=$(readlink -f "$JAVA_HOME/lib/security/cacerts")
  java=(-e JAVA_HOME="$JAVA_HOME" -v "$JAVA_HOME:$JAVA_HOME:ro" -v "$cacerts:$cacerts:ro")
fi
build_in() {
  if [ -z "$SUITE" ]; then (cd "$1" && "${@:2}"); return; fi
  docker run --rm --user "$(id -u):$(id -g)" -e HOME=/tmp -e PG_UPDATECONTROL -e PG_SUPPORTED_VERSIONS -e DEB_BUILD_OPTIONS -e DEB_BUILD_PROFILES \
    --shm-size 1g "${java[@]}" -v "$out:$out" -w "$1" "kakehashi-test/build:$SUITE" "${@:2}"
}
export PG_UPDATECONTROL=yes DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=2"
[ $extension_only = no ] || export DEB_BUILD_PROFILES=pkg.kakehashi.extension
# Without this it is what the release itself has, also where the archive of the PostgreSQL project has brought others.
export PG_SUPPORTED_VERSIONS=${PG_SUPPORTED_VERSIONS:-installed}

majors=$(build_in "$tree" pg_buildext supported-versions | tr '\n' ' ')
[ -n "$majors" ] || die "there is no PostgreSQL from 15 on in PG_SUPPORTED_VERSIONS, \"$PG_SUPPORTED_VERSIONS\"" "Name versions, as in \"17 18\"."
for major in $majors; do
  build_in "$tree" test -x "/usr/lib/postgresql/$major/bin/pg_config" ||
    die "there are no headers of PostgreSQL $major" "Install postgresql-server-dev-$major, or leave it out of PG_SUPPORTED_VERSIONS."
done
step "packages for PostgreSQL $majors"
began=$(now_millis)
{ build_in "$tree" pg_buildext updatecontrol && build_in "$tree" dpkg-buildpackage -b -us -uc -d; } >"$out/build.log" 2>&1 ||
  { tail -40 "$out/build.log" >&2; die "the packages could not be built" "The log is $out/build.log."; }
rm -rf "$tree"
say "   after $(elapsed "$began")"
(cd "$out" && ls -sh --block-size=1M ./*.deb)
[ "${LINTIAN:-yes}" = no ] || { step lintian && build_in "$out" sh -c 'lintian --fail-on error,warning -i ./*.changes'; }
