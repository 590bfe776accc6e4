#!/usr/bin/env bash
# make check-tools: runs the programs of examples/tools against servers of its own and compares what they print.
# Installs Debian's packages of Django, SQLAlchemy and Node.js where they are missing (root or sudo); npm and Maven bring the rest into target/tools.
. "$(dirname "$0")/lib.sh"

HIBERNATE=org.hibernate.orm:hibernate-core:7.1.0.Final
JOOQ=org.jooq:jooq-codegen:3.20.5

find_java
find_postgres
prepare_run_dir
. "$ROOT/.make/cluster.sh"

packages=()
/usr/bin/python3 -c 'import django' 2>/dev/null || packages+=(python3-django)
/usr/bin/python3 -c 'import sqlalchemy' 2>/dev/null || packages+=(python3-sqlalchemy)
/usr/bin/python3 -c 'import psycopg2' 2>/dev/null || packages+=(python3-psycopg2)
command -v npm >/dev/null || packages+=(nodejs npm)
if [ ${#packages[@]} -gt 0 ]; then
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  step "installing ${packages[*]}"
  "${sudo[@]}" apt-get -q update
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${packages[@]}"
fi

work=$ROOT/target/tools
mkdir -p "$work"
step "libraries"
[ -d "$work/node_modules/knex" ] || npm install --silent --no-fund --no-audit --prefix "$work" knex@3 pg@8
if [ ! -s "$work/classpath" ]; then
  cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>tools</artifactId>
  <version>1</version>
  <dependencies>
$(for artifact in $HIBERNATE $JOOQ "org.postgresql:postgresql:$(sed -n 's/.*<pgjdbc.version>\(.*\)<.*/\1/p' "$ROOT/pom.xml")"; do
    IFS=: read -r group name version <<<"$artifact"
    printf '    <dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>\n' "$group" "$name" "$version"
  done)
  </dependencies>
</project>
POM
  (cd "$work" && $MVN -q -B -ntp dependency:build-classpath -Dmdep.outputFile="$work/classpath")
fi
classpath=$(cat "$work/classpath")

end_servers_with_script "$RUN_DIR/tools"
home=$RUN_DIR/tools
runtime_dir=/dev/shm/kakehashi-tools-$$
start_endpoint "$home/endpoint" "$runtime_dir"
start_postgres "$home/pg" 54700 fsync=off shared_preload_libraries=kakehashi_fdw
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
address=jdbc:postgresql://localhost:$PGPORT/postgres
password=$(as_server cat "$home/pg/password")
sql -c "CREATE EXTENSION kakehashi_fdw" \
  -c "CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir')" \
  -c "CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi" -f "$ROOT/examples/tools/schema.sql" >/dev/null

failed=0
compare() { # name expected command...
  local name=$1 expected=$2 printed
  shift 2
  if printed=$("$@" 2>"$work/$name.log") && [ "$printed" = "$expected" ]; then
    say "   $name"
  else
    failed=$((failed + 1))
    say "   $name FAILED: printed"
    say "$printed"
    tail -20 "$work/$name.log" >&2
  fi
}

java_run() { "$JAVA_HOME/bin/java" -cp "$work/classes:$classpath" "$@"; }

step "programs"
compare django $'Bob 1.00 small\nBob 3.00 large' /usr/bin/python3 "$ROOT/examples/tools/with_django.py"
compare sqlalchemy 'Ann 5.00 first' /usr/bin/python3 "$ROOT/examples/tools/with_sqlalchemy.py"
compare knex $'Dee 4.00 null\nDee 6.00 six' env NODE_PATH="$work/node_modules" node "$ROOT/examples/tools/with_knex.js"
mkdir -p "$work/classes"
"$JAVA_HOME/bin/javac" -nowarn -cp "$classpath" -d "$work/classes" "$ROOT/examples/tools/java/WithHibernate.java"
compare hibernate $'Eve 2.00 second\nEve 3.00 null' java_run WithHibernate "$address" postgres "$password"
sed "s|<generator>|<jdbc><driver>org.postgresql.Driver</driver><url>$address</url><user>postgres</user><password>$password</password></jdbc><generator>|;
  s|<directory>.*</directory>|<directory>$work/generated</directory>|" "$ROOT/examples/tools/java/jooq.xml" >"$work/jooq.xml"
"$JAVA_HOME/bin/java" -cp "$classpath" org.jooq.codegen.GenerationTool "$work/jooq.xml" >"$work/jooq-generator.log" 2>&1 ||
  { tail -20 "$work/jooq-generator.log" >&2; die "jOOQ's generator failed"; }
find "$work/generated" -name '*.java' -exec "$JAVA_HOME/bin/javac" -nowarn -cp "$classpath" -d "$work/classes" \
  "$ROOT/examples/tools/java/WithJooq.java" {} +
compare jooq $'Fay 1.00 first\nFay 2.00 null' java_run -Dorg.jooq.no-logo=true -Dorg.jooq.no-tips=true WithJooq "$address" postgres "$password"
say "$((5 - failed)) passed, $failed failed"
[ $failed = 0 ]
