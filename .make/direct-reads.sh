#!/usr/bin/env bash
# Direct reads beside writers, changed definitions, kills of the endpoint, and stopped and killed readers. Each row that is read is checked: whole,
# its key's, no older than what was read or acknowledged before.
#   READS=20000000   of each reader     READERS=2     WRITERS=1     RANGES=READS/20  of the reader of ranges
#   KILLS=1          of the endpoint, spread over the run
#   SEED=            of the first process; without, a new one
. "$(dirname "$0")/lib.sh"

find_java
find_postgres
prepare_run_dir
. "$ROOT/.make/cluster.sh"

reads=${READS:-20000000}
readers=${READERS:-2}
writers=${WRITERS:-1}
ranges=${RANGES:-$((reads / 20 + 1))}
kills=${KILLS:-1}
seed=${SEED:-$(date +%s)}
# In memory, where a commit is durable at once: what others change is then rarely asked for.
home=/dev/shm/kakehashi-direct-reads-home-$$
runtime_dir=/dev/shm/kakehashi-direct-reads-$$
tool=$ROOT/fdw-extension/build/ipc/kh_direct
range_tool=$ROOT/fdw-extension/build/ipc/kh_range
logs=$ROOT/target/direct-reads
others=()
counted=()

cleanup() {
  local status=$?
  trap - EXIT
  local pid
  for pid in "${others[@]}" "${counted[@]}"; do
    # Some have ended already.
    [ ! -d "/proc/$pid" ] || kill "$pid" || say "process $pid has ended meanwhile"
  done
  wait
  stop_endpoint "$home/endpoint" >/dev/null
  rm -rf "$home" "$runtime_dir"
  exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

as_reader() { exec_as_server "$tool" "$runtime_dir" "$@"; }

start() { start_endpoint "$home/endpoint" "$runtime_dir" --set direct_reads=on; }

step "direct reads: $readers readers of $reads rows each, one of $ranges ranges, $writers writers, two movers, $kills kills, seed $seed"
make -s -C "$ROOT/fdw-extension/test/ipc" tools
rm -rf "$home" "$logs"
mkdir -p "$logs"
server_mkdir "$home"
start
as_server "$tool" "$runtime_dir" make 1 "$seed" 2>>"$logs/make"
as_server "$range_tool" "$runtime_dir" make 1 "$seed" >>"$logs/make" 2>&1
for ((i = 0; i < readers; i++)); do
  as_reader read "$reads" $((seed + i)) >"$logs/read-$i" 2>&1 &
  counted+=($!)
done
for ((i = 0; i < writers; i++)); do
  as_reader write 1000000000000 $((seed + readers + i)) >"$logs/write-$i" 2>&1 &
  others+=($!)
done
exec_as_server "$range_tool" "$runtime_dir" read "$ranges" $((seed + readers + writers + 2)) >"$logs/ranges" 2>&1 &
counted+=($!)
exec_as_server "$range_tool" "$runtime_dir" move 1000000000000 $((seed + readers + writers + 3)) >"$logs/move-ranges" 2>&1 &
others+=($!)
as_reader move 1000000000000 $((seed + readers + writers + 1)) >"$logs/move" 2>&1 &
others+=($!)
as_reader define 1000000000000 $((seed + readers + writers)) >"$logs/define" 2>&1 &
others+=($!)

# The place of one more reader, which is stopped for a while and then killed, again and again.
ends_readers() {
  local pid='' signal status
  # A reader that is stopped ends by nothing else.
  trap '[ -z "$pid" ] || kill -KILL "$pid"; exit 0' TERM
  while :; do
    as_reader read 1000000000000 >>"$logs/ended" 2>&1 &
    pid=$!
    for signal in STOP CONT KILL; do
      sleep 0.$((RANDOM % 10))
      # It has ended by itself, and why is looked at below.
      [ -d "/proc/$pid" ] && kill -$signal "$pid" || break
    done
    status=0
    wait "$pid" 2>/dev/null || status=$?
    # It may have found something, and ended by itself.
    [ $status = 137 ] || { echo "reader $pid ended with $status" >>"$logs/wrong"; return; }
  done
}
ends_readers &
others+=($!)

going() {
  local pid
  for pid in "${counted[@]}"; do
    [ ! -d "/proc/$pid" ] || return 0
  done
  return 1
}

for ((i = 0; i < kills; i++)); do
  sleep "${SECONDS_BETWEEN:-10}"
  going || break
  kill -KILL "$(cat "$home/endpoint/pid")"
  start
  say "killed and started the endpoint"
done
status=0
for ((i = 0; i < readers; i++)); do
  wait "${counted[i]}" || status=1
  say "reader $i: $(tail -1 "$logs/read-$i")"
done
wait "${counted[readers]}" || status=1
say "reader of ranges: $(tail -1 "$logs/ranges")"
[ ! -e "$logs/wrong" ] || { cat "$logs/ended" "$logs/wrong"; status=1; }
say "$(grep -c seed "$logs/ended") readers were stopped, and killed"
[ $status = 0 ] || die "direct reads were wrong, or a reader ended" "The logs are in $logs."
