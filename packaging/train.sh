#!/usr/bin/env bash
# Makes the JVM's ahead-of-time caches of the packages beside the jars: train.sh RUNTIME DIRECTORY. An endpoint and a shell of these very files do a short mix of everything. The JVM takes
# a cache for jars of the same size and time, wherever they are, and for the runtime of the training.
. "$(dirname "$0")/../.make/lib.sh"

runtime=$(cd "$1" && pwd -P)
lib=$(cd "$2" && pwd -P)
dist=$ROOT/ipc-endpoint
home=$(mktemp -d)
shared=$(mktemp -d -p /dev/shm kakehashi-training.XXXXXX)
endpoint_pid=

cleanup() {
  local status=$?
  trap - EXIT
  [ -z "$endpoint_pid" ] || kill "$endpoint_pid" 2>/dev/null || true # it has ended already where all went well
  rm -rf "$home" "$shared"
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

began=$(now_millis)
# What dpkg gives to files that are younger than the changelog.
[ -z "${SOURCE_DATE_EPOCH:-}" ] || touch -d "@$SOURCE_DATE_EPOCH" "$lib"/*.jar
"$runtime/bin/java" "@$dist/server/src/main/dist/jvm.options" "-Djava.io.tmpdir=$home" "-XX:AOTCacheOutput=$lib/kakehashi-endpoint.aot" -jar "$lib/kakehashi-endpoint.jar" \
  start --data-directory "$home/data" --runtime-directory "$shared/run" >"$home/log" 2>&1 </dev/null &
endpoint_pid=$!
listens() { [ ! -d "/proc/$endpoint_pid" ] || grep -q " 00010000 .* $shared/run/endpoint.sock\$" /proc/net/unix; }
wait_until 180 listens && [ -d "/proc/$endpoint_pid" ] || { tail -20 "$home/log" >&2; die "the endpoint of the training did not start"; }
"$runtime/bin/java" "@$dist/server/src/main/dist/jvm.options" "-Djava.io.tmpdir=$home" -jar "$lib/kakehashi-tools.jar" train --runtime-directory "$shared/run"
"$ROOT/.make/train-shell.sh" "$lib/kakehashi-tools.aot" "$shared/run" "$runtime/bin/java" "@$dist/tools/src/main/dist/tools.options" "-Djava.io.tmpdir=$home" -jar "$lib/kakehashi-tools.jar"
kill "$endpoint_pid"
wait "$endpoint_pid" || [ $? = 143 ] || { tail -20 "$home/log" >&2; die "the endpoint of the training did not end well"; }
endpoint_pid=
for program in endpoint tools; do
  [ -s "$lib/kakehashi-$program.aot" ] || die "the JVM left no cache of kakehashi-$program.jar"
done
cp "$runtime/release" "$lib/kakehashi-endpoint.release"
say "caches of the JVM after $(elapsed "$began"): $(du -h "$lib/kakehashi-endpoint.aot" | cut -f1), $(du -h "$lib/kakehashi-tools.aot" | cut -f1)"
