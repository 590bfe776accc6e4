#!/usr/bin/env bash
# make deps: installs what is missing with apt. DOCKER=no leaves the container engine out.
. "$(dirname "$0")/lib.sh"

os_id=$(. /etc/os-release && printf '%s' "${ID:-}")
os_version=$(. /etc/os-release && printf '%s' "${VERSION_ID:-}")
missing=()
spark_java_missing=no

want() { # command package: the package is missing when the command is
  command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || missing+=("$2")
}

want gcc gcc
want make make
want mvn maven
want clang-format clang-format
want cppcheck cppcheck
want setpriv util-linux
want ps procps
want git git
want python3 python3
want curl curl
want systemd-analyze systemd
want tmux tmux
if [ "${DOCKER:-yes}" = yes ]; then
  want docker docker.io
  want dockerd docker.io
  want debootstrap debootstrap
  want iptables iptables
fi

# Tests of the web console run in a browser.
want chromium chromium
want chromedriver chromium-driver

pg_config=$(locate_pg_config)
if [ -z "$pg_config" ]; then
  case "$os_id-$os_version" in
    debian-12) pg=15 ;;
    debian-13) pg=17 ;;
    *) pg=$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1) ;;
  esac
  missing+=("postgresql-${pg:-15}" "postgresql-server-dev-${pg:-15}")
else
  # Debian's packages of client and server bring pg_config and PGXS without the headers.
  pg=$("$pg_config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  [ -x "$("$pg_config" --bindir)/postgres" ] || missing+=("postgresql-$pg")
  [ -f "$("$pg_config" --includedir-server)/postgres.h" ] || missing+=("postgresql-server-dev-$pg")
fi

# Included by a header of the server (utils/pg_locale.h); Debian 13's development package does not bring it.
[ -f /usr/include/unicode/ucol.h ] || missing+=(libicu-dev)

# Of the example with Apache Spark, and of the test that runs it.
[ -n "$(locate_spark_java)" ] || spark_java_missing=yes

java_missing=no
[ -n "$(locate_java)" ] || java_missing=yes

if [ ${#missing[@]} = 0 ] && [ $java_missing = no ] && [ $spark_java_missing = no ]; then
  say "nothing to install"
  exit 0
fi
command -v apt-get >/dev/null || die "could not find apt-get; missing: ${missing[*]} JDK $JAVA_WANTED: $java_missing" \
  "Install these with your system's package manager."
sudo=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || die "installing ${missing[*]} needs root, and there is no sudo" "Run \"make deps\" as root."
  sudo=(sudo)
fi
"${sudo[@]}" apt-get -q update
offered() { [ -n "$(apt-cache policy "$1" | sed -n 's/.*Candidate: \([0-9].*\)/\1/p')" ]; }
if [ $spark_java_missing = yes ]; then
  for version in $SPARK_JAVA; do
    if offered "openjdk-$version-jre-headless"; then
      missing+=("openjdk-$version-jre-headless")
      break
    fi
  done
fi
if [ $java_missing = yes ]; then
  if offered "openjdk-$JAVA_WANTED-jdk-headless"; then
    missing+=("openjdk-$JAVA_WANTED-jdk-headless")
  else
    die "no JDK $JAVA_WANTED found, and $os_id $os_version does not offer openjdk-$JAVA_WANTED-jdk-headless" \
      "Install a JDK $JAVA_WANTED (Temurin, for instance) under /usr/lib/jvm, or set JAVA_HOME."
  fi
fi
step "installing ${missing[*]}"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"
find_java
find_postgres
say "JDK: $JAVA_HOME"
say "PostgreSQL $PG_MAJOR: $PG_CONFIG"
