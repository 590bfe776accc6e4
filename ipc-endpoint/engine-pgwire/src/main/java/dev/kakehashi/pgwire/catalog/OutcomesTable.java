package dev.kakehashi.pgwire.catalog;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The table of outcomes, and what it can say. A row of it has to be there if and only if the transaction that wrote it has committed with
/// all of its other rows.
///
/// | where a row is | commits with the outcome |
/// |---|---|
/// | in a table of the same server | yes |
/// | Citus: in a table that Citus knows | yes: on one node, or prepared on all |
/// | Citus: in a table of one node that Citus does not know | after the outcome |
/// | in a foreign table of the server | before the outcome |
public final class OutcomesTable {
  static final String NAME = "kakehashi_catalog.outcomes";

  static final String DEFINITION =
      "CREATE TABLE IF NOT EXISTS kakehashi_catalog.outcomes (endpoint int8, place int4, reference int8 NOT NULL,"
          + " refused int8 NOT NULL DEFAULT 0, PRIMARY KEY (endpoint, place)) WITH (fillfactor = 50)";

  /// Spreads it over the nodes of Citus, so that any of them can look up an outcome, and Citus prepares where rows are on others.
  static final String DISTRIBUTION =
      "SELECT pg_catalog.create_distributed_table('kakehashi_catalog.outcomes', 'place', colocate_with => 'none')"
          + " WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_dist_partition"
          + " WHERE logicalrelid = 'kakehashi_catalog.outcomes'::pg_catalog.regclass)";

  private static final String STATE =
      "SELECT c.relkind, c.relpersistence,"
          + " EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) OR c.relhasrules, "
          + " EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 2)"
          + " FROM pg_catalog.pg_class c WHERE c.oid = 'kakehashi_catalog.outcomes'::pg_catalog.regclass";

  private static final String IS_OF_CITUS =
      "SELECT 1 FROM pg_catalog.pg_dist_partition WHERE logicalrelid = 'kakehashi_catalog.outcomes'::pg_catalog.regclass";

  /// Foreign tables that can be changed. Their servers commit before this one does.
  private static final String FOREIGN =
      "SELECT c.oid::pg_catalog.regclass::text FROM pg_catalog.pg_class c"
          + " WHERE c.relkind = 'f' AND pg_catalog.pg_relation_is_updatable(c.oid, false) & 28 <> 0 ORDER BY 1 LIMIT 1";

  /// Tables of a node that Citus does not know: their rows commit after those on other nodes.
  private static final String UNKNOWN_TO_CITUS =
      "SELECT c.oid::pg_catalog.regclass::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
          + " WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
          + " AND NOT EXISTS (SELECT FROM pg_catalog.pg_dist_partition p WHERE p.logicalrelid = c.oid)"
          + " AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass"
          + " AND d.objid = c.oid AND d.deptype = 'e')"
          + " AND NOT pg_catalog.relation_is_a_known_shard(c.oid) ORDER BY 1 LIMIT 1";

  private OutcomesTable() {}

  /// Looks whether the table can say how a transaction has ended.
  ///
  /// @param sharded whether the server has Citus
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE, with what to do
  public static void check(WireConnection connection, boolean sharded) {
    List<@Nullable String> state = connection.query(STATE).getFirst();
    if (!"r".equals(state.get(0))) {
      throw unsuitable("is no plain table");
    }
    if (!"p".equals(state.get(1))) {
      throw unsuitable("is not logged: a crash empties it");
    }
    if ("t".equals(state.get(2))) {
      throw unsuitable("has triggers or rules, which may change what it says");
    }
    if (!"t".equals(state.get(3))) {
      throw unsuitable("has another primary key");
    }
    if (sharded && connection.query(IS_OF_CITUS).isEmpty()) {
      throw unsuitable("is not distributed, so it does not commit with rows of other nodes");
    }
  }

  /// Looks whether a node that may not define the table has it.
  ///
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE, with what to do
  static void require(WireConnection connection) {
    if (connection
            .query("SELECT pg_catalog.to_regclass('kakehashi_catalog.outcomes')")
            .getFirst()
            .getFirst()
        == null) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "the engine's table " + NAME + " is not there, and this node cannot make it")
          .withHint(
              "Let the first start of an endpoint find the coordinator first in its addresses.");
    }
  }

  private static EngineException unsuitable(String why) {
    return new EngineException(
            ErrorCode.NOT_IN_PREREQUISITE_STATE, "the engine's table " + NAME + " " + why)
        .withDetail("The outcome of a commit could not be told.")
        .withHint(
            "Drop it while no endpoint uses the database. The next start of an endpoint makes it again.");
  }

  /// A table whose rows may have been committed though the outcome was not, if the database has one.
  static @Nullable String committedBefore(WireConnection connection) {
    return first(connection, FOREIGN);
  }

  /// A table whose rows may have been lost though the outcome was committed, if the database has one.
  ///
  /// @param sharded whether the server has Citus
  static @Nullable String committedAfter(WireConnection connection, boolean sharded) {
    return sharded ? first(connection, UNKNOWN_TO_CITUS) : null;
  }

  private static @Nullable String first(WireConnection connection, String question) {
    List<List<@Nullable String>> rows = connection.query(question);
    return rows.isEmpty() ? null : rows.getFirst().getFirst();
  }
}
