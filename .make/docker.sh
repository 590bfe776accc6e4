#!/usr/bin/env bash
# Docker for the container tests.
#   docker.sh up        starts dockerd if no daemon answers (root only); remembers whether it was us
#   docker.sh images    makes debian:bookworm, debian:trixie and debian:sid: pulled if a registry answers, else with debootstrap;
#                       installs PostgreSQL 18 on sid, and 19 of experimental, which may fail
#   docker.sh base SUITE   makes one of them, and kakehashi-test/base:SUITE from it, which has the sources of security updates, too;
#                          experimental is sid with PostgreSQL 19 in reach
#   docker.sh down      ends the daemon that "up" started, with its containers
. "$(dirname "$0")/lib.sh"

state=$ROOT/target/docker
PATH=$PATH:/usr/sbin:/sbin

daemon_answers() { docker version --format '{{.Server.Version}}'; }

# Without systemd nobody has mounted what dockerd needs on a hybrid or bare cgroup set-up; dockerd says so in its log.
up() {
  if daemon_answers >/dev/null 2>&1; then
    say "dockerd $(daemon_answers) is running"
    return
  fi
  command -v dockerd >/dev/null || die "no Docker daemon answers and dockerd is not installed" "Run \"make deps\"."
  [ "$(id -u)" = 0 ] || die "no Docker daemon answers, and only root can start one" \
    "Start Docker, and add your user to the group \"docker\"."
  mkdir -p "$state"
  setsid dockerd >"$state/dockerd.log" 2>&1 </dev/null &
  echo $! >"$state/dockerd.pid"
  if ! wait_until 60 daemon_answers; then
    tail -20 "$state/dockerd.log" >&2
    down
    die "could not start dockerd" "Its log is $state/dockerd.log."
  fi
  say "started dockerd $(daemon_answers), process $(cat "$state/dockerd.pid")"
}

# Ends with the status 1 if there is no image and none can be made.
image() { # suite
  local suite=$1 tree started
  if docker image inspect "debian:$suite" >/dev/null 2>&1; then
    say "debian:$suite is there"
    return
  fi
  if timeout 60 docker pull -q "debian:$suite" >/dev/null 2>&1; then
    say "pulled debian:$suite"
    return
  fi
  command -v debootstrap >/dev/null || die "could not pull debian:$suite, and debootstrap is not installed" "Run \"make deps\"."
  started=$(now_millis)
  tree=$(mktemp -d /var/tmp/kakehashi-debootstrap.XXXXXX)
  if ! debootstrap --variant=minbase "$suite" "$tree" >"$tree.log" 2>&1; then
    tail -20 "$tree.log" >&2
    rm -rf --one-file-system "$tree" "$tree.log"
    say "could not make a base image of Debian $suite"
    return 1
  fi
  tar -C "$tree" -c . | docker import - "debian:$suite" >/dev/null
  rm -rf --one-file-system "$tree" "$tree.log"
  say "made debian:$suite with debootstrap in $(elapsed "$started")"
}

# An instruction of a Dockerfile: PostgreSQL 19, with its libpq, is that of experimental, and nothing else is taken from there. Pulled images
# name their mirror in another file than those of debootstrap.
take_19_of_experimental() {
  cat <<'DOCKERFILE'
RUN cd /etc/apt \
 && { [ ! -f sources.list ] || sed 's/ sid / experimental /' sources.list >sources.list.d/experimental.list; } \
 && { [ ! -f sources.list.d/debian.sources ] \
   || sed 's/^Suites: .*/Suites: experimental/' sources.list.d/debian.sources >sources.list.d/experimental.sources; } \
 && printf 'Package: src:postgresql-19\nPin: release a=experimental\nPin-Priority: 500\n' >preferences.d/experimental
DOCKERFILE
}

# Packages may want those of the last security update, of which an image of debootstrap knows nothing; pulled ones know it, and unstable has no such updates.
base() { # suite
  local suite=${1/experimental/sid} more=
  image "$suite" || die "there is no image of Debian $suite"
  [ "$1" != experimental ] || more=$(take_19_of_experimental)
  DOCKER_BUILDKIT=0 docker build -q -t "kakehashi-test/base:$1" - >/dev/null <<DOCKERFILE
FROM debian:$suite
RUN [ ! -f /etc/apt/sources.list ] || [ $suite = sid ] || sed -n "s|^deb \\([^ ]*\\)/debian/* .*|deb \\1/debian-security $suite-security main|p" \
    /etc/apt/sources.list >/etc/apt/sources.list.d/security.list
RUN [ $suite != sid ] || echo 'Acquire::Check-Valid-Until "false";' >/etc/apt/apt.conf.d/90late-mirror
$more
DOCKERFILE
}

packages() { # base image, major, image to be made
  DOCKER_BUILDKIT=0 docker build -q --target packages --build-arg "BASE=$1" --build-arg SUITE=sid --build-arg "PG=$2" -t "$3" - \
    <"$ROOT/pg-tests/src/test/docker/postgres.Dockerfile"
}

# Says why packages could not be installed. An image of an earlier run would stand for them: the tests look whether there is one.
unavailable() { # log, image
  # Without the base image there is no log, and without a build no image.
  tail -5 "$1" >&2 || true
  docker rmi -f "$2" >/dev/null 2>&1 || true
}

# The packages of unstable may be out of reach, or not fit each other for a day. Then the tests there are skipped, which this
# decides: they run if the image is there.
unstable() {
  local log=$state/sid.log
  mkdir -p "$state"
  if ! image sid || ! packages debian:sid 18 kakehashi-test/packages-sid >"$log" 2>&1; then
    unavailable "$log" kakehashi-test/packages-sid
    say "tests on Debian sid with PostgreSQL 18 will be skipped: its packages could not be installed"
    return
  fi
  say "PostgreSQL 18 of Debian sid is there"
}

# The same of experimental. Its packages are added to those of unstable, which has most of what they need.
experimental() {
  local log=$state/experimental.log
  mkdir -p "$state"
  # The user is made once more by the other file, with the same number.
  if ! docker image inspect kakehashi-test/packages-sid >/dev/null 2>&1 ||
    ! { { echo 'FROM kakehashi-test/packages-sid' && take_19_of_experimental && echo 'RUN userdel postgres'; } |
      DOCKER_BUILDKIT=0 docker build -q -t kakehashi-test/experimental - &&
      packages kakehashi-test/experimental 19 kakehashi-test/packages-experimental; } >"$log" 2>&1; then
    unavailable "$log" kakehashi-test/packages-experimental
    say "tests on Debian sid with PostgreSQL 19 will be skipped: its packages could not be installed"
    return
  fi
  say "PostgreSQL 19 of Debian experimental is there"
}

down() {
  local pid
  [ -f "$state/dockerd.pid" ] || return 0
  pid=$(cat "$state/dockerd.pid")
  if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]; then
    docker ps -q | xargs -r docker kill >/dev/null
    kill "$pid"
    daemon_ended() { [ ! -d "/proc/$pid" ]; }
    wait_until 30 daemon_ended || die "dockerd, process $pid, did not end within 30 s"
    say "ended dockerd, process $pid"
  fi
  rm -f "$state/dockerd.pid"
}

case "${1:-}" in
  up) up ;;
  images)
    for suite in bookworm trixie; do
      image "$suite" || die "the container tests need an image debian:$suite"
    done
    unstable
    experimental
    ;;
  base) base "${2:?suite}" ;;
  down) down ;;
  *) die "usage: docker.sh up|images|base SUITE|down" ;;
esac
