#!/usr/bin/env bash
# make bench-shell: "kakehashi sql" beside psql, commands taking turns, output to /dev/null. Prints medians, most memory and goals; kept in target/bench-shell/.
#   ROWS=               of the printed table, all without: start lines memory
#   TABLE_ROWS=1000000  of the table             REPETITIONS=5   of each measure; of a start five times as many
. "$(dirname "$0")/lib.sh"

find_java
find_postgres
"$ROOT/.make/stage.sh"
"$ROOT/.make/train.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
home=$RUN_DIR/bench-shell
out=$ROOT/target/bench-shell
runtime_dir=/dev/shm/kakehashi-bench-shell-$$
mkdir -p "$out"

step "servers"
end_servers_with_script "$home"
start_endpoint "$home/endpoint" "$runtime_dir" --set memory=1GB
start_postgres "$home/pg" 54700 shared_buffers=512MB max_wal_size=4GB
PGPORT=$(cat "$home/pg/port")
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres KAKEHASHI_RUNTIME_DIR=$runtime_dir
sql <<SQL
CREATE EXTENSION kakehashi_fdw;
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir');
CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;
CREATE TABLE heap_lines (id int8 PRIMARY KEY, grp int4, price numeric(12,2), name text, made timestamptz);
INSERT INTO heap_lines SELECT i, i % 10, i * 0.37, 'name of ' || i, timestamptz '2026-01-01 00:00:00Z' + i * interval '1 second' FROM generate_series(1::int8, ${TABLE_ROWS:-1000000}) i;
VACUUM ANALYZE heap_lines;
SELECT kakehashi_execute('kakehashi', 'CREATE TABLE lines (id int8 PRIMARY KEY, grp int4, price numeric(12,2), name text, made timestamptz)') \\gset
IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO public;
INSERT INTO lines SELECT * FROM heap_lines;
SQL

# As it is installed.
tree=$home/installed
server_mkdir "$tree/bin" "$tree/lib"
as_server ln -s "$RUN_DIR/lib" "$tree/lib/kakehashi"
sed "s|@JAVA@|$JAVA_HOME|" "$ROOT/packaging/launcher" | as_server tee "$tree/bin/kakehashi" >/dev/null
as_server chmod 0755 "$tree/bin/kakehashi"
cmp -s "$JAVA_HOME/release" "$RUN_DIR/lib/kakehashi-endpoint.release" || install -m 0644 "$JAVA_HOME/release" "$RUN_DIR/lib/kakehashi-endpoint.release"

step "results"
measured_from=$(processor_ticks)
{
  printf 'commit %s, %s, %s processors, PostgreSQL %s, medians of %s\n' "$(git -C "$ROOT" rev-parse --short HEAD)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$PG_MAJOR" "${REPETITIONS:-5}"
  as_server /usr/bin/python3 - "$tree/bin/kakehashi" "$(type -P psql)" "${REPETITIONS:-5}" "${ROWS:-start lines memory}" <<'PYTHON'
import os, statistics, subprocess, sys, time

kakehashi, psql, repetitions, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].split()


def run(command, environment={}):
    """Milliseconds, and MB of memory at most."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} ended with {status}")
    return (time.perf_counter() - begin) * 1000, usage.ru_maxrss / 1024


def turns(count, **commands):
    for command in commands.values():
        run(command)
    times = {name: [] for name in commands}
    for _ in range(count):
        for name, command in commands.items():
            times[name].append(run(command)[0])
    return {name: statistics.median(each) for name, each in times.items()}


def line(name, value, goal):
    print(f"{name:58} {value:>12}   {goal}")


def sql(*words):
    return [kakehashi, "sql", "-X", *words]


if "start" in rows:
    took = turns(5 * repetitions, shell=sql("-At", "-c", "SELECT 1"), psql=[psql, "-X", "-At", "-c", "SELECT 1"])
    line("shell: start, first row, end", f"{took['shell']:.0f} ms", "goal <= 250 ms")
    line("psql: start, first row, end", f"{took['psql']:.0f} ms", "")
if "lines" in rows:
    for form in ("-At", "--csv"):
        took = turns(
            repetitions,
            shell=sql(form, "-c", "SELECT * FROM lines"),
            foreign=[psql, "-X", form, "-c", "SELECT * FROM lines"],
            heap=[psql, "-X", form, "-c", "SELECT * FROM heap_lines"],
        )
        line(f"{form} of all rows: shell", f"{took['shell']:.0f} ms", "with its start")
        line(f"{form} of all rows: psql, foreign table", f"{took['foreign']:.0f} ms", f"shell is {took['foreign'] / took['shell']:.2f} times as fast, goal >= 1")
        line(f"{form} of all rows: psql, heap", f"{took['heap']:.0f} ms", f"shell is {took['heap'] / took['shell']:.2f} times as fast, goal >= 1")
if "memory" in rows:
    small = {"KAKEHASHI_JAVA_OPTIONS": "-Xms8m -Xmx16m"}
    few = run(sql("-At", "-c", "SELECT * FROM lines WHERE id <= 10000"), small)[1]
    all = run(sql("-At", "-c", "SELECT * FROM lines"), small)[1]
    line("memory with -Xmx16m: 10,000 rows", f"{few:.0f} MB", "")
    line("memory with -Xmx16m: all rows", f"{all:.0f} MB", "constant")
    line("memory of psql: all rows", f"{run([psql, '-X', '-At', '-c', 'SELECT * FROM lines'])[1]:.0f} MB", "")
PYTHON
  shared_since "$measured_from"
} | tee "$out/results.txt"
say "kept in $out/results.txt"
