#!/usr/bin/env bash
# make bench-standby: what a second copy costs, with everything on this machine, fsync on, taking turns. Prints medians, ratios and goals; kept
# in target/bench-standby/.
#   ROWS=               of the printed table, all without: synchronous archive lag takeover
#   SECONDS_PER_RUN=5   of each rate and of the lag     ROUNDS=3   of each
#   CLIENTS="1 8"       of the rates
. "$(dirname "$0")/lib.sh"

ALL_ROWS="synchronous archive lag takeover"
ROWS=${ROWS:-$ALL_ROWS}
for row in $ROWS; do
  [[ " $ALL_ROWS " == *" $row "* ]] || die "the table has no row \"$row\"" "ROWS may have: $ALL_ROWS."
done
SECONDS_PER_RUN=${SECONDS_PER_RUN:-5}
ROUNDS=${ROUNDS:-3}
CLIENTS=${CLIENTS:-1 8}
find_java
"$ROOT/.make/stage.sh"
"$ROOT/.make/train.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
install -m 644 "$ROOT"/ipc-endpoint/benchmarks/target/kakehashi-benchmarks-*-SNAPSHOT.jar "$RUN_DIR/lib/kakehashi-benchmarks.jar"
out=$ROOT/target/bench-standby
home=$RUN_DIR/bench-standby
base=/dev/shm/kakehashi-bench-standby-$$
rm -rf "$out" && mkdir -p "$out"

wanted() { [[ " $ROWS " == *" $1 "* ]]; }
bench() { # operation operand...
  java_in -Dslf4j.provider=org.slf4j.simple.SimpleServiceProvider -Dslf4j.internal.verbosity=WARN \
    -cp "$RUN_DIR/lib/kakehashi-benchmarks.jar:$RUN_DIR/lib/kakehashi-tools.jar:$RUN_DIR/lib/kakehashi-endpoint.jar" \
    dev.kakehashi.benchmarks.standby.StandbyBenchmark "$@"
}
kakehashi() { # command option...
  java_in -jar "$RUN_DIR/lib/kakehashi-endpoint.jar" "$@"
}
make_tables() { # runtime directory
  bench execute "$1" "CREATE TABLE entry (id int8 PRIMARY KEY, val int4)" "CREATE TABLE beat (n int8)" "INSERT INTO beat VALUES (0)"
}
wait_for() { # name of a standby; empty: for none
  bench execute "$base-first" "ALTER SYSTEM SET synchronous_standby = '$1'"
  kakehashi reload --data-directory "$home/first/data" --runtime-directory "$base-first" >/dev/null
}
median() { sort -g "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
line() { # what without with ratio goal met
  printf '%-52s %12s %12s %7s %8s  %s\n' "$@"
}
compare() { # what file-without file-with goal ("<= 1.5": of the time, ">= 0.97": of the rate)
  local without with
  without=$(median "$2") with=$(median "$3")
  awk -v what="$1" -v a="$without" -v b="$with" -v goal="$4" 'BEGIN {
    split(goal, g, " "); ratio = g[1] == "<=" ? a / b : b / a
    met = g[1] == "<=" ? ratio <= g[2] : ratio >= g[2]
    printf "%-52s %10.0f/s %10.0f/s %7.2f %8s  %s\n", what, a, b, ratio, goal, met ? "met" : "MISSED"}'
}

step "endpoints"
end_servers_with_script "$home"
as_server sh -c "umask 077; echo secret > '$home/password'"
port=$(free_port 18180)
start_endpoint "$home/first" "$base-first" --set "http_port=$port"
make_tables "$base-first"
bench execute "$base-first" "CREATE ROLE replica LOGIN PASSWORD 'secret'" "GRANT kakehashi_replication TO replica"
follow=(--set "primary=http://127.0.0.1:$port" --set primary_user=replica --set "primary_password_file=$home/password" --set standby_name=second)
kakehashi standby init --data-directory "$home/second/data" "${follow[@]}" >/dev/null
start_endpoint "$home/second" "$base-second" "${follow[@]}"
if wanted archive; then
  server_mkdir "$home/archive"
  start_endpoint "$home/archived" "$base-archived" --set "archive_location=$home/archive" --set archive_interval=1s
  start_endpoint "$home/alone" "$base-alone"
  make_tables "$base-archived"
  make_tables "$base-alone"
fi

step "results"
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, medians of %s runs of %s s in turn\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$ROUNDS" "$SECONDS_PER_RUN"
  line "" without with ratio goal ""
  if wanted synchronous; then
    goals=([1]="<= 1.5" [8]="<= 1.2")
    for clients in $CLIENTS; do
      bench rate "$base-first" "$clients" 10 >/dev/null # warms the JVM up
      for _ in $(seq "$ROUNDS"); do
        wait_for ""
        bench rate "$base-first" "$clients" "$SECONDS_PER_RUN" >>"$out/alone.$clients"
        wait_for second
        bench rate "$base-first" "$clients" "$SECONDS_PER_RUN" >>"$out/synchronous.$clients"
      done
      compare "stored commit, synchronous standby, time, $clients clients" "$out/alone.$clients" "$out/synchronous.$clients" "${goals[$clients]:-<= 1.5}"
    done
    wait_for ""
  fi
  if wanted archive; then
    for clients in $CLIENTS; do
      bench rate "$base-alone" "$clients" 10 >/dev/null
      bench rate "$base-archived" "$clients" 10 >/dev/null
      for _ in $(seq "$ROUNDS"); do
        bench rate "$base-alone" "$clients" "$SECONDS_PER_RUN" >>"$out/unarchived.$clients"
        bench rate "$base-archived" "$clients" "$SECONDS_PER_RUN" >>"$out/archived.$clients"
      done
      compare "stored commits, archive each second, rate, $clients clients" "$out/unarchived.$clients" "$out/archived.$clients" ">= 0.97"
    done
  fi
  if wanted lag; then
    for _ in $(seq "$ROUNDS"); do bench lag "$base-first" "$base-second" 8 "$SECONDS_PER_RUN" >>"$out/lag"; done
    for column in 1 2 3; do awk -v c=$column '{print $c}' "$out/lag" >"$out/lag.$column"; done
    lag=$(median "$out/lag.2")
    line "lag of a standby, 8 clients that write, p99 (p50 $(median "$out/lag.1") ms)" - "$lag ms" "" "<= 50" "$(awk -v l="$lag" 'BEGIN {print l <= 50 ? "met" : "MISSED"}')"
  fi
  if wanted takeover; then
    bench first "$base-second" >"$out/first" &
    waiting=$!
    wait_for second
    killed=$(now_millis)
    kill -KILL "$(endpoint_pid "$home/first")"
    kakehashi promote --data-directory "$home/second/data" --runtime-directory "$base-second" >/dev/null
    wait "$waiting"
    took=$(($(cat "$out/first") - killed))
    line "takeover, from kill -9 to the first commit" - "$took ms" "" "<= 5000" "$([ $took -le 5000 ] && echo met || echo MISSED)"
  fi
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
