#!/usr/bin/env bash
# Builds examples/batch, a program of its own that is no part of the build, because Spark does not run on the JDK of the endpoint.
# target/batch/classpath and target/batch/java are what runs it. With --lock the jars that Maven finds become those that are demanded.
. "$(dirname "$0")/lib.sh"

find_java
spark_java=$(locate_spark_java)
[ -n "$spark_java" ] || die "no JDK of $SPARK_JAVA found under /usr/lib/jvm, and Spark runs on no other" "Run \"make deps\"."
work=$ROOT/target/batch
example=$ROOT/examples/batch
mkdir -p "$work"

# What Maven has found, as sha256sum prints it.
jars() {
  tr ':' '\n' <"$work/jars" | while read -r jar; do printf '%s  %s\n' "$(sha256sum <"$jar" | cut -c1-64)" "${jar##*/}"; done | LC_ALL=C sort -k2
}

if [ ! -s "$work/classpath" ] || [ -n "$(find "$example" -name target -prune -o -newer "$work/classpath" -type f -print)" ] || [ "${1:-}" = --lock ]; then
  step "examples/batch"
  rm -f "$work/classpath"
  $MVN -q -B -ntp -f "$example/pom.xml" compile dependency:build-classpath -Dmdep.outputFile="$work/jars"
  if [ "${1:-}" = --lock ]; then
    jars >"$example/jars.lock"
  else
    jars | diff "$example/jars.lock" - || die "these jars are others than those of examples/batch/jars.lock" \
      "Who wants them runs \".make/batch.sh --lock\"."
  fi
  printf '%s\n' "$spark_java" >"$work/java"
  printf '%s:%s' "$example/target/classes" "$(cat "$work/jars")" >"$work/classpath.new"
  mv "$work/classpath.new" "$work/classpath"
fi
