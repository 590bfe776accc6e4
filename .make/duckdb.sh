# DuckDB's library for a benchmark: nothing of the product has it on its class path. Sourced after prepare_run_dir; sets DUCKDB and DUCKDB_VERSION.
DUCKDB_VERSION=$(sed -n 's|.*<duckdb.version>\(.*\)</duckdb.version>.*|\1|p' "$ROOT/pom.xml")
DUCKDB=$RUN_DIR/lib/duckdb_jdbc-$DUCKDB_VERSION.jar
if [ ! -f "$DUCKDB" ]; then
  step "DuckDB $DUCKDB_VERSION"
  "$MVN" -q -B -ntp -N -f "$ROOT/pom.xml" dependency:copy -Dartifact="org.duckdb:duckdb_jdbc:$DUCKDB_VERSION" -DoutputDirectory="$ROOT/target/duckdb" ||
    die "could not fetch DuckDB"
  install -m 644 "$ROOT/target/duckdb/duckdb_jdbc-$DUCKDB_VERSION.jar" "$DUCKDB"
fi
