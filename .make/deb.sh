#!/usr/bin/env bash
# make deb: Debian packages of this checkout in target/deb, for the PostgreSQL versions that this machine has. LINTIAN=no leaves the check out.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

packages=()
for package in debhelper fakeroot lintian mkdocs mkdocs-material postgresql-server-dev-all; do
  [ "$(dpkg-query -Wf '${db:Status-Status}' $package 2>/dev/null)" = installed ] || packages+=("$package")
done
if [ ${#packages[@]} -gt 0 ]; then
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  step "installing ${packages[*]}"
  "${sudo[@]}" apt-get -q update
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${packages[@]}"
fi
find_java

# The sources as they are here, with the jars that "make build" has made: the build of the packages has no network.
out=$ROOT/target/deb
tree=$out/kakehashi
rm -rf "$out"
mkdir -p "$tree"
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --null -T - -c | tar -C "$tree" -x
cp -a "$tree/packaging/debian" "$tree/debian"
if [ -n "${DEB_VERSION:-}" ]; then # of a test that upgrades
  sed -i "1s/(.*)/($DEB_VERSION)/" "$tree/debian/changelog"
fi
for jar in ipc-endpoint/server/target/kakehashi-endpoint.jar ipc-endpoint/tools/target/kakehashi-tools.jar; do
  [ -f "$jar" ] || die "there is no $jar" "Run \"make build\"."
  mkdir -p "$tree/${jar%/*}"
  ln "$jar" "$tree/$jar" 2>/dev/null || cp "$jar" "$tree/$jar"
done

step "packages for PostgreSQL $(cd "$tree" && pg_buildext supported-versions | tr '\n' ' ')"
began=$(now_millis)
(cd "$tree" && PG_UPDATECONTROL=yes pg_buildext updatecontrol &&
  DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=2" dpkg-buildpackage -b -us -uc -d) >"$out/build.log" 2>&1 ||
  { tail -40 "$out/build.log" >&2; die "the packages could not be built" "The log is $out/build.log."; }
rm -rf "$tree"
say "   after $(elapsed "$began")"
(cd "$out" && ls -sh --block-size=1M ./*.deb)
[ "${LINTIAN:-yes}" = no ] || { step lintian && lintian --fail-on error,warning -i "$out"/*.changes; }
