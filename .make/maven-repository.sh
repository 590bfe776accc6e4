#!/usr/bin/env bash
# make maven: a repository of Maven with what projects outside of this checkout need, API, client and test kit, in target/maven or the directory named.
. "$(dirname "$0")/lib.sh"

target=${1:-$ROOT/target/maven}
find_java
cd "$ROOT"
new=$target.new
rm -rf "$new"
.make/maven.sh maven -pl ':kakehashi-application-testkit,:kakehashi-client' -am -DskipTests deploy "-DaltDeploymentRepository=kakehashi::file://$new"
# The program itself, which is installed otherwise.
find "$new" -name '*-shaded.jar*' -delete
cp "$ROOT/ipc-endpoint/server/src/main/dist/jvm.options" "$new/jvm.options" # for JVMs of tests, which have an endpoint in them
rm -rf "$target"
mv "$new" "$target"
say "   $(du -sh "$target" | cut -f1) in $target"
