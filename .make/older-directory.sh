#!/usr/bin/env bash
# older-directory.sh FORMAT COMMIT: makes a data directory with the engine of COMMIT, the last one whose build writes the store's format
# FORMAT, and keeps it as a resource of OlderDirectoriesTest. COMMIT is HEAD for the format of now.
#   LOCAL=DIR   Maven's repository; without it a new one in target/older, so that none of ours gets jars of the older version
. "$(dirname "$0")/lib.sh"

[ $# = 2 ] || die "usage: .make/older-directory.sh FORMAT COMMIT"
format=$1
commit=$(git -C "$ROOT" rev-parse --verify "$2^{commit}") || die "no commit $2"
find_java

work=$ROOT/target/older
source=$work/source-$format
tests=ipc-endpoint/engine/src/test
older=dev/kakehashi/engine/embedded/older
resources=$ROOT/$tests/resources/$older
rm -rf "$work/maker" "$work/format-$format"
mkdir -p "$work/maker" "$work/format-$format"
[ -d "$source" ] || git -C "$ROOT" worktree add --detach "$source" "$commit"
git -C "$source" checkout --quiet --detach "$commit"

step "engine of $commit"
modules=ipc-endpoint/engine
[ ! -d "$source/ipc-endpoint/queue" ] || modules=$modules,ipc-endpoint/queue
(
  cd "$source"
  # Checkers of then may have something to say to a compiler of now.
  $MVN -B -ntp -q -Pquick "-Dmaven.repo.local=${LOCAL:-$work/m2}" -Dspotless.check.skip=true -pl "$modules" -am -DskipTests package \
    org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=target/classpath -Dmdep.includeScope=test
)

step "directory of format $format"
classes=$source/ipc-endpoint/engine/target/classes:$source/ipc-endpoint/engine/target/test-classes:$source/ipc-endpoint/queue/target/classes
classes=$classes:$(cat "$source/ipc-endpoint/engine/target/classpath")
"$JAVA_HOME/bin/javac" -d "$work/maker" -cp "$classes" "$ROOT/$tests/java/$older/DirectoryMaker.java"
read -r -a options <<<"$(sed -n '/<kakehashi.jvm>/,/<\/kakehashi.jvm>/p' "$ROOT/pom.xml" | sed 's/<[^>]*>//g' | tr '\n' ' ')"
"$JAVA_HOME/bin/java" "${options[@]}" -cp "$work/maker:$classes" "${older//\//.}.DirectoryMaker" \
  "$work/format-$format/data" "$resources/script.sql" "$format" "$work/format-$format/rows.txt"
written=$(cat "$work/format-$format/data/FORMAT")
[ "$written" = "kakehashi store $format" ] || die "commit $2 writes \"$written\""

cd "$work/format-$format"
# RocksDB's own log says nothing about the data, and much about this machine.
rm -f data/rows/LOG data/rows/LOG.old*
rm -f "$resources/format-$format.zip"
"$JAVA_HOME/bin/jar" --create --no-manifest --file "$resources/format-$format.zip" rows.txt data
git -C "$ROOT" worktree remove --force "$source"
say "$(stat -c '%n: %s bytes' "$resources/format-$format.zip")"
