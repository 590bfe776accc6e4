package dev.kakehashi.pgwire;

import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.Computation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Facts that the server states of itself, as far as its capabilities depend on them. Immutable.
///
/// @param version as the server tells it
/// @param yugabyte whether it is YugabyteDB
/// @param citus version of Citus in the database; null: it is not there
/// @param prepares whether transactions can be prepared
/// @param collation of the database
/// @param otherCollations whether columns have another one
record ServerFacts(
    String version,
    boolean yugabyte,
    @Nullable String citus,
    boolean prepares,
    String collation,
    boolean otherCollations) {
  /// Collations in which text is ordered by its bytes.
  private static final Set<String> OF_BYTES =
      Set.of("C", "POSIX", "C.UTF-8", "C.utf8", "ucs_basic");

  private static final String QUESTION =
      "SELECT pg_catalog.version(), pg_catalog.current_setting('max_prepared_transactions'), d.datcollate,"
          + " EXISTS (SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid"
          + " JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation"
          + " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid >= 16384 AND a.attnum > 0 AND NOT a.attisdropped"
          + " AND l.collname NOT IN ('default', 'C', 'POSIX', 'C.utf8', 'ucs_basic')),"
          + " (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'citus')"
          + " FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()";

  static ServerFacts of(WireConnection connection) {
    List<@Nullable String> row = connection.query(QUESTION).getFirst();
    String version = String.valueOf(row.get(0));
    return new ServerFacts(
        version,
        version.contains("-YB-"),
        row.get(4),
        !"0".equals(row.get(1)),
        String.valueOf(row.get(2)),
        "t".equals(row.get(3)));
  }

  /// Whether rows are on several nodes, each of which has snapshots of its own.
  boolean isSharded() {
    return citus != null;
  }

  /// @param limits that were set
  /// @param nodeIsolation whether isolation that holds on each node alone is offered
  Capabilities capabilities(EngineLimits limits, boolean nodeIsolation) {
    List<Capability> absent =
        new ArrayList<>(
            List.of(
                Capability.LONG_TRANSACTIONS,
                Capability.COMMANDS,
                Capability.UNDURABLE_READS,
                Capability.ROW_IDENTITY,
                Capability.COPY_FILES,
                Capability.QUEUES,
                Capability.APPLICATIONS,
                Capability.ROLES,
                Capability.BACKUP,
                Capability.DEFINITIONS));
    if (yugabyte || isSharded() || !prepares) {
      absent.add(Capability.TWO_PHASE);
    }
    if (yugabyte) {
      absent.add(Capability.DDL_IN_TRANSACTION);
      absent.add(Capability.DEFERRABLE_CONSTRAINTS);
      absent.add(Capability.SAFE_SNAPSHOTS);
    }
    if (isSharded() && !nodeIsolation) {
      absent.add(Capability.REPEATABLE_READ);
      absent.add(Capability.SERIALIZABLE);
      absent.add(Capability.READ_ONLY_TRANSACTIONS);
      absent.add(Capability.SAFE_SNAPSHOTS);
    }
    Capabilities all =
        Capabilities.everything(PgWireEngine.NAME).without(absent.toArray(Capability[]::new));
    boolean bytes = OF_BYTES.contains(collation) && !otherCollations;
    return (bytes ? all : all.without(Computation.TEXT_ORDER))
        .withLimits(limits.rowBytes(), limits.transactionBytes());
  }

  @Override
  public String toString() {
    return "the engine is %s%s, collation %s%s"
        .formatted(
            version,
            citus == null ? "" : " with Citus " + citus,
            collation,
            prepares ? "" : ", without prepared transactions");
  }
}
