#!/usr/bin/env bash
# make deb: Debian packages of this checkout in target/deb, for this Debian and its PostgreSQL. LINTIAN=no leaves the check out.
# SUITE=trixie: those of another Debian release in target/deb-trixie, built in a container (root only).
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

SUITE=${SUITE:-}
if [ -z "$SUITE" ]; then
  packages=()
  for package in debhelper fakeroot libicu-dev lintian mkdocs mkdocs-material postgresql-server-dev-all; do
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
  docker build -q --build-arg BASE="kakehashi-test/base:$SUITE" -t "kakehashi-test/build:$SUITE" packaging/build >/dev/null
fi
find_java

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
for jar in ipc-endpoint/server/target/kakehashi-endpoint.jar ipc-endpoint/tools/target/kakehashi-tools.jar; do
  [ -f "$jar" ] || die "there is no $jar" "Run \"make build\"."
  mkdir -p "$tree/${jar%/*}"
  ln "$jar" "$tree/$jar" 2>/dev/null || cp "$jar" "$tree/$jar"
done

cp -a target/maven "$tree/maven-repository"

# Here, or in a container that sees the tree and the JDK where they are. Debian's JDK has its certificates elsewhere, behind a link.
cacerts=$(readlink -f "$JAVA_HOME/lib/security/cacerts")
build_in() {
  if [ -z "$SUITE" ]; then (cd "$1" && "${@:2}"); return; fi
  docker run --rm --user "$(id -u):$(id -g)" -e JAVA_HOME="$JAVA_HOME" -e HOME=/tmp -e PG_UPDATECONTROL -e DEB_BUILD_OPTIONS --shm-size 1g \
    -v "$JAVA_HOME:$JAVA_HOME:ro" -v "$cacerts:$cacerts:ro" -v "$out:$out" -w "$1" "kakehashi-test/build:$SUITE" "${@:2}"
}
export PG_UPDATECONTROL=yes DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=2"

step "packages for PostgreSQL $(build_in "$tree" pg_buildext supported-versions | tr '\n' ' ')"
began=$(now_millis)
{ build_in "$tree" pg_buildext updatecontrol && build_in "$tree" dpkg-buildpackage -b -us -uc -d; } >"$out/build.log" 2>&1 ||
  { tail -40 "$out/build.log" >&2; die "the packages could not be built" "The log is $out/build.log."; }
rm -rf "$tree"
say "   after $(elapsed "$began")"
(cd "$out" && ls -sh --block-size=1M ./*.deb)
[ "${LINTIAN:-yes}" = no ] || { step lintian && build_in "$out" sh -c 'lintian --fail-on error,warning -i ./*.changes'; }
