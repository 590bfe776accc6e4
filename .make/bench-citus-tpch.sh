#!/usr/bin/env bash
# TPC-H's queries over foreign tables of the engine "pgwire" and of postgres_fdw, both over one Citus cluster on this machine, against heap tables of the same rows. Says for each query
# whether its rows are right and how long it took, the better of two turns. Kept in target/bench-citus-tpch/. The cluster is that of .make/citus.sh, which ends with this.
#   SCALE=0.03   QUERIES="1 2 ... 22"   SECONDS_PER_QUERY=30   then a query is given up
. "$(dirname "$0")/lib.sh"

SCALE=${SCALE:-0.03}
QUERIES=${QUERIES:-$(seq -s ' ' 22)}
find_java
find_postgres
"$ROOT/.make/stage.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
. "$ROOT/.make/tpch.sh"
out=$ROOT/target/bench-citus-tpch
home=$RUN_DIR/bench-citus-tpch
runtime_dir=/dev/shm/kakehashi-bench-citus-$$
rm -rf "$out" && mkdir -p "$out"

step "servers"
end_others() { "$ROOT/.make/citus.sh" stop; }
"$ROOT/.make/citus.sh" start
end_servers_with_script "$home"
coordinator=$("$ROOT/.make/citus.sh" addresses)
password=$(as_server cat "$RUN_DIR/citus/password")
start_endpoint "$home/endpoint" "$runtime_dir" --set engine=pgwire --set "pgwire_addresses=$coordinator" --set pgwire_database=kakehashi \
  --set pgwire_user=kakehashi --set "pgwire_password_file=$RUN_DIR/citus/password"
start_postgres "$home/pg" 54800 shared_buffers=256MB max_wal_size=4GB session_preload_libraries=kakehashi_fdw
export PGHOST=$home/pg/socket PGPORT PGUSER=postgres PGDATABASE=postgres
PGPORT=$(cat "$home/pg/port")
remote() { PGHOST=127.0.0.1 PGPORT=${coordinator##*:} PGUSER=kakehashi PGDATABASE=kakehashi PGPASSWORD=$password sql "$@"; }

step "TPC-H at scale $SCALE"
tables="region nation supplier customer part partsupp orders lineitem"
tpch ddl --schema public | sql
tpch ddl --schema public | remote
for table in region nation supplier; do remote -c "SELECT create_reference_table('$table')" >/dev/null; done
for spread in "customer c_custkey none" "part p_partkey none" "partsupp ps_partkey part" "orders o_orderkey none" "lineitem l_orderkey orders"; do
  # shellcheck disable=SC2086 # three words
  set -- $spread
  remote -c "SELECT create_distributed_table('$1', '$2', colocate_with => '$3')" >/dev/null
done
for table in $tables; do
  tpch text --scale "$SCALE" "$table" >"$out/$table.tbl"
  sql -c "COPY $table FROM STDIN" <"$out/$table.tbl"
  remote -c "COPY $table FROM STDIN" <"$out/$table.tbl"
  rm "$out/$table.tbl"
done
sql -c "$TPCH_INDEXES" -c 'VACUUM ANALYZE'
remote -f - <<<"$TPCH_INDEXES;"
for table in $tables; do remote -c "ANALYZE $table"; done
sql <<SQL
CREATE EXTENSION kakehashi_fdw;
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '$runtime_dir');
CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;
CREATE EXTENSION postgres_fdw;
CREATE SERVER postgres FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '${coordinator##*:}', dbname 'kakehashi');
CREATE USER MAPPING FOR CURRENT_USER SERVER postgres OPTIONS (user 'kakehashi', password '$password');
CREATE SCHEMA kakehashi;
CREATE SCHEMA postgres;
IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO kakehashi;
IMPORT FOREIGN SCHEMA public LIMIT TO (${tables// /, }) FROM SERVER postgres INTO postgres;
SQL
for table in $tables; do sql -c "ANALYZE postgres.$table"; done

# run SCHEMA NUMBER: its rows in a file, and how many milliseconds each turn took; fewer if it failed. Then the error is in a file, and the table says so.
# Both turns are in one session: the first one asks for statistics, too.
run() {
  {
    printf 'SET statement_timeout = %s;\nSET search_path = %s;\n\\timing on\n' "$((${SECONDS_PER_QUERY:-30} * 1000))" "$1"
    for turn in 1 2; do
      printf '\\o %s\n' "$out/$1-$2.rows"
      cat "$out/$2.sql"
      printf ';\n'
    done
  } | psql -X -q -At -v ON_ERROR_STOP=1 -f - 2>"$out/$1-$2.error" | sed -n 's/^Time: \([0-9.]*\).*/\1/p'
}

step "results"
for number in $QUERIES; do
  tpch_query "$number" >"$out/$number.sql"
  for schema in public kakehashi postgres; do
    turns=$(run "$schema" "$number") || true # psql ends so at the error of a query, which its file has
    best=$(sort -n <<<"$turns" | head -1)
    right=failed
    [ -s "$out/$schema-$number.error" ] || { right=wrong && cmp -s "$out/public-$number.rows" "$out/$schema-$number.rows" && right=right; }
    printf '%s %s %s %s %s\n' "$number" "$schema" "$right" "${best:--}" "$(head -1 <<<"$turns")"
  done
done >"$out/times"
awk '{right[$1, $2] = $3; time[$1, $2] = $4; if (!seen[$1]++) query[++many] = $1}
  END {
    printf "%-8s %12s %22s %22s %8s\n", "query", "heap", "pgwire", "postgres_fdw", "ratio"
    for (i = 1; i <= many; i++) {
      q = query[i]; k = time[q, "kakehashi"]; p = time[q, "postgres"]; ratio = "-"
      if (right[q, "kakehashi"] == "right") ours++
      if (right[q, "postgres"] == "right") theirs++
      if (right[q, "kakehashi"] == "right" && right[q, "postgres"] == "right") {
        ratio = sprintf("%.2f", k / p); logs += log(k / p); both++; if (k / p > worst) {worst = k / p; slowest = q}
      }
      printf "%-8s %9s ms %12s %6s ms %12s %6s ms %8s\n", q, time[q, "public"], right[q, "kakehashi"], k, right[q, "postgres"], p, ratio
    }
    printf "right: pgwire %d, postgres_fdw %d of %d; geometric mean of pgwire over postgres_fdw %.2f, slowest query %s, %.2f (goals: 0.6, none above 2)\n", ours, theirs, many, both ? exp(logs / both) : 0, slowest, worst
  }' "$out/times" | tee "$out/results.txt"
say "kept in $out/results.txt"
