#!/usr/bin/env bash
# fuzz.sh: gives a target inputs that reach ever more of its code, and keeps those that do in the tree's corpus.
#
#   TARGET=name     one of "ls ipc-endpoint/fuzz/corpus fdw-extension/test/ipc/corpus", without .txt
#   SECONDS=60      how long
#   INPUT=file      runs this input alone, as a finding is run again
#
# Targets in Java run under Jazzer, those in C (c-...) under libFuzzer with the sanitizers for addresses and undefined behaviour.
. "$(dirname "$0")/lib.sh"

target=${TARGET:-}
# The shell counts its own life in SECONDS, so the Makefile gives another name.
seconds=${FUZZ_SECONDS:-60}
input=${INPUT:-}
java_corpora=$ROOT/ipc-endpoint/fuzz/corpus
c_corpora=$ROOT/fdw-extension/test/ipc/corpus
work=$ROOT/target/fuzz/$target
findings=$work/findings

names() { (cd "$java_corpora" && printf '%s ' *.txt && cd "$c_corpora" && printf '%s ' *.txt) | sed 's/\.txt//g'; }

[ -n "$target" ] || die "no target is named" "TARGET= is one of: $(names)"
case $target in
  c-*) corpus=$c_corpora/$target.txt ;;
  *) corpus=$java_corpora/$target.txt ;;
esac
[ -f "$corpus" ] || die "there is no fuzz target \"$target\"" "TARGET= is one of: $(names)"
[ -z "$input" ] || [ -f "$input" ] || die "there is no file \"$input\"" "INPUT= is a file that a run has written to target/fuzz/TARGET/findings."

# Classes whose branches are counted. More would make the start slow, and reward what the target is not about.
instrumented() {
  case $target in
    archive) echo 'dev.kakehashi.protocol.archive.**' ;;
    arrow | csv | parquet | text) echo 'dev.kakehashi.bulk.**:dev.kakehashi.formats.**' ;;
    frames) echo 'dev.kakehashi.sharedmemory.**:dev.kakehashi.protocol.**:dev.kakehashi.requests.**' ;;
    http) echo 'dev.kakehashi.rest.**' ;;
    jar) echo 'dev.kakehashi.applications.jar.**' ;;
    json) echo 'dev.kakehashi.engine.type.json.**:dev.kakehashi.rest.json.**:dev.kakehashi.formats.**' ;;
    log) echo 'dev.kakehashi.engine.store.log.**' ;;
    sql) echo 'dev.kakehashi.engine.sql.**:dev.kakehashi.engine.ddl.**:dev.kakehashi.engine.type.**' ;;
    *) echo 'dev.kakehashi.**' ;;
  esac
}

# Options of libFuzzer are those of Jazzer.
common=(-timeout=60 "-artifact_prefix=$findings/" -print_final_stats=1)

prepare_java() {
  find_java
  "$ROOT/.make/maven.sh" build-fuzz -Pquick,fuzz -pl ipc-endpoint/fuzz -am -DskipTests \
    test-compile org.apache.maven.plugins:maven-dependency-plugin:build-classpath -Dmdep.outputFile="$ROOT/target/fuzz/classpath"
}

run_java() {
  local options
  # The JVM's options that the tests have, too.
  options=$(sed -n '/<kakehashi.jvm>/,/<\/kakehashi.jvm>/p' "$ROOT/pom.xml" | sed 's/<[^>]*>//g')
  # shellcheck disable=SC2086
  "$JAVA_HOME/bin/java" $options -XX:+EnableDynamicAgentLoading -Xmx1200m "-Djava.io.tmpdir=$work/tmp" \
    "-Dkakehashi.fuzz.target=$target" -cp "$ROOT/ipc-endpoint/fuzz/target/test-classes:$(cat "$ROOT/target/fuzz/classpath")" \
    com.code_intelligence.jazzer.Jazzer --target_class=dev.kakehashi.fuzz.Fuzzer "--instrumentation_includes=$(instrumented)" \
    "--custom_hook_includes=$(instrumented)" '--disabled_hooks=com.code_intelligence.jazzer.sanitizers.*' \
    "--reproducer_path=$findings" -rss_limit_mb=0 "${common[@]}" "$@"
}

prepare_c() {
  command -v "${CLANG:-clang}" >/dev/null || die "there is no clang" "apt-get install clang libclang-rt-14-dev, or set CLANG."
  make -s -C "$ROOT/fdw-extension/test/ipc" target
}

run_c() { KAKEHASHI_TARGET=$target KAKEHASHI_RECORDED_STORE="$ROOT/fdw-extension/test/ipc/recorded.store" "$ROOT/fdw-extension/build/ipc/ipc_fuzz" "${common[@]}" "$@"; }

mkdir -p "$work/tmp" "$findings"
case $target in
  c-*) language=c ;;
  *) language=java ;;
esac
"prepare_$language"
if [ -n "$input" ]; then
  step "$target: $input"
  "run_$language" "$input"
  exit
fi
rm -rf "$work/corpus" "$work/merged"
mkdir -p "$work/merged"
"$ROOT/.make/corpus.py" unpack "$corpus" "$work/corpus"
step "$target for $seconds s"
status=0
"run_$language" "-max_total_time=$seconds" "$work/corpus" 2>"$work/log" || status=$?
# A run that could not begin has no figures; its status says so below.
grep -E '^#[0-9]+.*DONE|^stat::number_of_executed_units|^stat::average_exec' "$work/log" || true
if [ "$status" != 0 ]; then
  grep -m 1 -A 20 -E '^== Java Exception|ERROR: |: runtime error:|assertion|\.c:[0-9]+: ' "$work/log" >&2 || tail -20 "$work/log" >&2
  die "a finding, or a run that could not begin (status $status)" \
    "The log is $work/log. TARGET=$target INPUT=FILE make fuzz runs a file of $findings again; when it is mended, the file goes into $corpus below a comment."
fi
step "$target: what reaches the same with the fewest bytes"
"run_$language" -merge=1 "$work/merged" "$work/corpus" 2>"$work/merge.log" || die "the inputs could not be merged" "See $work/merge.log."
"$ROOT/.make/corpus.py" only "$work/merged" "$corpus"
