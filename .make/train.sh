#!/usr/bin/env bash
# Makes the JVM's ahead-of-time cache of the staged endpoint (JEP 483, 514, 515): an endpoint of its own does a short mix of
# everything and leaves .run/lib/kakehashi-endpoint.aot, classes and profiles of methods. Later endpoints
# compile what matters at once. Made once per endpoint, JVM and options. The command-line tools get one from a short shell, .run/lib/kakehashi-tools.aot.
. "$(dirname "$0")/lib.sh"

find_java
prepare_run_dir
. "$ROOT/.make/cluster.sh"
cache=$RUN_DIR/lib/kakehashi-endpoint.aot
tools_cache=$RUN_DIR/lib/kakehashi-tools.aot
home=$RUN_DIR/training
runtime_dir=/dev/shm/kakehashi-training-$$

# The JVM compares the jar by name, size and time.
identity() {
  stat -c '%n %s %Y' "$RUN_DIR/lib/kakehashi-endpoint.jar" "$RUN_DIR/lib/kakehashi-tools.jar"
  cat "$JAVA_HOME/release" "$RUN_DIR/lib/jvm.options" "$RUN_DIR/lib/tools.options"
}
wanted=$(identity | sha256sum)
[ ! -f "$cache" ] || [ ! -f "$tools_cache" ] || [ "$(cat "$cache.of" 2>/dev/null)" != "$wanted" ] || exit 0

cleanup() {
  local status=$?
  trap - EXIT
  stop_endpoint "$home" >/dev/null
  rm -rf "$home"
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

began=$(now_millis)
step "training the endpoint's JVM, once per build"
rm -f "$cache" "$cache.of" "$tools_cache"
server_mkdir "$home"
JVM_OPTION=-XX:AOTCacheOutput=$home/endpoint.aot start_endpoint "$home" "$runtime_dir"
java_in -jar "$RUN_DIR/lib/kakehashi-tools.jar" train --runtime-directory "$runtime_dir"
as_server "$ROOT/.make/train-shell.sh" "$home/tools.aot" "$runtime_dir" "$JAVA_HOME/bin/java" "@$RUN_DIR/lib/tools.options" -jar "$RUN_DIR/lib/kakehashi-tools.jar"
[ -s "$home/tools.aot" ] || die "the JVM left no ahead-of-time cache of the tools" "JAVA_HOME is $JAVA_HOME."
install -m 0644 "$home/tools.aot" "$tools_cache"
say "   worked for $(elapsed "$began")"
stop_endpoint "$home" >/dev/null # it writes the cache before it ends
[ -s "$home/endpoint.aot" ] || { tail -20 "$home/log" >&2; die "the JVM left no ahead-of-time cache" "JAVA_HOME is $JAVA_HOME."; }
install -m 0644 "$home/endpoint.aot" "$cache"
install -m 0644 "$JAVA_HOME/release" "${cache%.aot}.release" # of the JVM that may use them
printf '%s\n' "$wanted" >"$cache.of"
say "   $(du -h "$cache" | cut -f1) after $(elapsed "$began")"
