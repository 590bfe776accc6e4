#!/usr/bin/env bash
# make test-citus: the engine "pgwire" over a Citus cluster on this machine, see .make/citus.sh. The conformance suite with plain tables, then with each table distributed by its key, has to
# fail where ipc-endpoint/engine-pgwire/src/test/resources/citus.txt says so, and nowhere else. Then transfers while workers and the coordinator are killed in turn.
#   KILLS=20 WRITERS=4 MILLIS=3000 ACCOUNTS=100
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
find_java
prepare_run_dir
module=ipc-endpoint/engine-pgwire
listed=$ROOT/$module/src/test/resources/citus.txt
trap '.make/citus.sh stop' EXIT
trap 'exit 130' INT TERM
.make/citus.sh start
password=$RUN_DIR/citus/password

# Drops the tables of the engine's user, and whatever needs them.
drop_tables() {
  .make/citus.sh psql -c "SET client_min_messages = error" -c "DO \$\$ DECLARE made text; BEGIN
    FOR made IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE tableowner = 'kakehashi' AND schemaname = 'public'
    LOOP EXECUTE 'DROP TABLE IF EXISTS ' || made || ' CASCADE'; END LOOP;
    FOR made IN SELECT format('%I.%I', schemaname, sequencename) FROM pg_sequences WHERE sequenceowner = 'kakehashi' AND schemaname = 'public'
    LOOP EXECUTE 'DROP SEQUENCE IF EXISTS ' || made || ' CASCADE'; END LOOP; END \$\$"
}

# From here on each new table is distributed by the first column of its key, or its first column.
distribute_tables() {
  .make/citus.sh psql -c "CREATE FUNCTION public.distribute() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
    DECLARE made record;
    BEGIN
      FOR made IN SELECT r.oid::regclass AS name, (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = r.oid
          AND a.attnum = coalesce((SELECT i.indkey[0] FROM pg_index i WHERE i.indrelid = r.oid AND i.indisprimary), 1)) AS key
        FROM pg_event_trigger_ddl_commands() c JOIN pg_class r ON r.oid = c.objid
        WHERE c.classid = 'pg_class'::regclass AND r.relkind = 'r' AND r.relpersistence = 'p' AND c.schema_name = 'public'
      LOOP PERFORM create_distributed_table(made.name, made.key); END LOOP;
    END \$\$" -c "CREATE EVENT TRIGGER distribute ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.distribute()"
}

conformance() { # name
  step "conformance, $1 tables"
  .make/maven.sh "tck-citus-$1" -pl $module -Dkakehashi.tck.pgwire.addresses="$(.make/citus.sh addresses)" -Dkakehashi.tck.pgwire.password="$password" \
    -Dkakehashi.tck.pgwire.report="citus-$1" -Dtest=PgWireConformanceTest -Dmaven.test.failure.ignore=true test
  awk '{print ($2 == "passed" || $2 == "refused") ? $2 : "FAILED"}' "$module/target/tck-citus-$1.txt" | sort | uniq -c
}

failed=()
drop_tables
conformance plain
! grep -q FAILED $module/target/tck-citus-plain.txt || failed+=("conformance with plain tables")
drop_tables
distribute_tables
conformance distributed
# What failed and is not listed, and what is listed and did not fail.
if ! diff <(grep -E '^[A-Z]' "$listed" | cut -d' ' -f1 | sort) <(grep FAILED $module/target/tck-citus-distributed.txt | cut -d' ' -f1 | sort); then
  failed+=("conformance with distributed tables: not as $listed says")
fi
drop_tables

pgwire=$ROOT/$module/target
export ENGINE=dev.kakehashi.pgwire.PgWireUnderTest ENGINE_CLASSPATH=$pgwire/classes:$pgwire/test-classes KILLS=${KILLS:-20} ACCOUNTS=${ACCOUNTS:-100}
# Each worker, and the coordinator between them; all nodes are needed, so one comes back at once.
export KILL="for node in \$(echo 1 coordinator 2 coordinator 3 coordinator | cut -d' ' -f\$(( (\$1 - 1) % 6 + 1 ))); do $ROOT/.make/citus.sh kill \$node && $ROOT/.make/citus.sh restart \$node; done"
# With one address, and with that of a worker behind it.
for addresses in "$(.make/citus.sh addresses)" "$(.make/citus.sh nodes | cut -d, -f1-2)"; do
  drop_tables
  ENGINE_OPTIONS="-Dkakehashi.tck.pgwire.addresses=$addresses -Dkakehashi.tck.pgwire.password=$password" .make/transfers.sh || failed+=("transfers with $addresses")
done
[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}"
