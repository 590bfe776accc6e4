#!/usr/bin/env bash
# make test-packages: the packages of target/deb in containers. One has systemd: the way of README.md, reload, kill, upgrade, remove, purge.
# Two are those of packaging/compose: first row over shared memory. ONLY=systemd,compose selects. Root only.
# SUITE=trixie: those of target/deb-trixie on that Debian release. PG: with which PostgreSQL, if there is an extension for several.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

debs=target/deb${SUITE:+-$SUITE}
suite=${SUITE:-$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")}
[ -n "$(ls "$debs"/*.deb 2>/dev/null)" ] || die "there are no packages in $debs" "Run \"make deb\", with the same SUITE."
PG=${PG:-$(ls "$debs"/postgresql-*-kakehashi-fdw_*.deb | sed 's/.*postgresql-\([0-9]*\)-.*/\1/' | sort -n | tail -1)}
selected() { [ -z "${ONLY:-}" ] || [[ ",$ONLY," == *",$1,"* ]]; }
name=kakehashi-packages-$$

cleanup() {
  local status=$?
  trap - EXIT
  # What a failed step has not made is not there to remove; the status is that of the steps.
  docker rm -f "$name" >/dev/null 2>&1 || true
  [ ! -d target/compose ] || (cd target/compose && compose down -v --timeout 5 >/dev/null 2>&1) || true
  rm -rf target/compose target/packages-test
  .make/docker.sh down
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM
compose() { if docker compose version >/dev/null 2>&1; then docker compose -p "$name" "$@"; else docker-compose -p "$name" "$@"; fi; }

.make/docker.sh up
.make/docker.sh base "$suite"
export BASE=kakehashi-test/base:$suite

# The same packages with a later version, to upgrade to. Those of the extension for another PostgreSQL would bring its server: they are left out.
newer() {
  local deb tree old new
  for deb in "$debs"/kakehashi-*.deb "$debs/postgresql-$PG-"*.deb; do
    tree=target/packages-test/tree
    rm -rf "$tree"
    dpkg-deb -R "$deb" "$tree"
    old=$(dpkg-deb -f "$deb" Version)
    new=$old+test1
    sed -i "s/^Version: .*/Version: $new/; s/(= ${old//\~/\\~})/(= $new)/g" "$tree/DEBIAN/control"
    dpkg-deb -Zgzip -z1 --root-owner-group -b "$tree" target/packages-test/new >/dev/null
    cp "$deb" target/packages-test/old/
  done
}

# The commands of README.md from the packages to the first foreign table, those of one language.
way() { awk -v fence="\`\`\`$1" '/^## / {inside = $0 == "## Install"} inside && $0 == fence {within = 1; next} /^```/ {within = 0} within' README.md; }

if selected systemd; then
  step "packages on Debian $suite with systemd"
  rm -rf target/packages-test
  mkdir -p target/packages-test/old target/packages-test/new
  newer
  for language in sh sql; do way $language >target/packages-test/way.$language; done
  docker build -q --build-arg BASE="$BASE" -t "kakehashi-test/systemd-$suite" packaging/test >/dev/null
  # systemd mounts what it needs; not --privileged, which a host without all capabilities refuses.
  docker run -d --name "$name" --cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined --tmpfs /run --tmpfs /tmp --shm-size 1g -v "$PWD/target/packages-test:/packages:ro" \
    "kakehashi-test/systemd-$suite" >/dev/null
  booted() { docker exec "$name" systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; }
  wait_until 60 booted || { docker logs "$name" >&2; die "systemd did not start in the container"; }
  docker exec "$name" /steps.sh "$PG"
  docker rm -f "$name" >/dev/null
fi

if selected compose; then
  step "two containers"
  rm -rf target/compose
  cp -a packaging/compose target/compose
  cp "$debs"/kakehashi-*.deb "$debs/postgresql-$PG-"*.deb target/compose/
  export PG POSTGRES_PASSWORD=secret
  (
    cd target/compose
    compose build -q
    began=$(now_millis)
    compose up -d
    first_row() { compose exec -T postgres psql -U postgres -h /var/run/postgresql -XAtc 'SELECT count(*) FROM account'; }
    wait_until 60 first_row || { compose logs >&2; die "no row within 60 s"; }
    say "   first row $(elapsed "$began") after \"up\""
    compose exec -T postgres psql -U postgres -h /var/run/postgresql -XAtq -v ON_ERROR_STOP=1 \
      -c "INSERT INTO account SELECT i, 'a', 1 FROM generate_series(1, 100000) i" -c 'SELECT sum(balance) FROM account' | grep -x 100000.00
    compose restart --timeout 30 endpoint
    wait_until 60 first_row || die "no row within 60 s after a restart of the endpoint"
    compose exec -T postgres psql -U postgres -h /var/run/postgresql -XAtc 'SELECT count(*) FROM account' | grep -x 100000
  )
fi
say "packages passed"
