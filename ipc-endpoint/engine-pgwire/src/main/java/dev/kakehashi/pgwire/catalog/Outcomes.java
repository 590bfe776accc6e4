package dev.kakehashi.pgwire.catalog;

import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Rows that transactions write when they commit, so that an outcome can be looked up if the answer is lost. Each place of transactions has
/// one row, which the next transaction there overwrites. References of one place grow.
///
/// A look-up writes as well. So it waits for a commit that is still on its way, which holds the row. A commit that has not come that far is
/// refused when it comes: `refused` has the reference that the look-up did not find. A commit that only one server of a group has is not
/// taken for one that all keep: the look-up commits behind it.
///
/// The row of a transaction that was prepared says who it was until it is decided; the decision is not in it.
public final class Outcomes {
  /// Writes the row; parameters: endpoint, place, reference. It fails (23502) where the transaction was given up, or a later one has been
  /// at its place.
  public static final String WRITE =
      "INSERT INTO kakehashi_catalog.outcomes AS o (endpoint, place, reference) VALUES ($1, $2, $3)"
          + " ON CONFLICT (endpoint, place) DO UPDATE SET reference = CASE WHEN o.reference <= excluded.reference"
          + " AND o.refused < excluded.reference THEN excluded.reference END";

  /// From here on, places are of transactions without a reference.
  static final int PLACES = 1 << 16;

  /// How long a look-up waits for a commit that is on its way, before it is tried again.
  private static final long LOCK_MILLIS = 5000;

  private Outcomes() {}

  /// Row that a transaction writes.
  ///
  /// @param place see [RecoveredOutcomes#place(long)], or from 65536 on one of [OutcomePlaces]
  /// @param reference of the transaction, above 0
  public record Row(long endpoint, int place, long reference) {}

  /// Whether a transaction has committed; if not, it never will. To be tried again if it fails, also without an answer.
  ///
  /// @param sharded whether the server has Citus
  /// @throws dev.kakehashi.pgwire.wire.ServerError also when its commit takes longer than some seconds
  /// @throws EngineException TRANSACTION_RESOLUTION_UNKNOWN: the database has tables whose rows do not commit with the outcome
  public static boolean settle(WireConnection connection, boolean sharded, Row row) {
    boolean committed = settle(connection, row);
    String apart =
        committed
            ? OutcomesTable.committedAfter(connection, sharded)
            : OutcomesTable.committedBefore(connection);
    if (apart != null) {
      throw new EngineException(
          ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
          "the transaction has %s, but rows of table %s commit apart from it"
              .formatted(committed ? "committed" : "not committed", apart));
    }
    return committed;
  }

  private static boolean settle(WireConnection connection, Row row) {
    List<List<@Nullable String>> found =
        connection.query(
            "SET LOCAL lock_timeout = %d; INSERT INTO kakehashi_catalog.outcomes AS o (endpoint, place, reference, refused) VALUES (%d, %d, 0, %d)"
                    .formatted(LOCK_MILLIS, row.endpoint(), row.place(), row.reference())
                + " ON CONFLICT (endpoint, place) DO UPDATE SET refused = CASE WHEN o.reference = excluded.refused THEN o.refused ELSE excluded.refused END"
                + " RETURNING o.reference");
    return Long.toString(row.reference()).equals(found.getFirst().getFirst());
  }

  /// The highest reference at the places of transactions without one.
  static long last(WireConnection connection, long endpoint) {
    List<List<@Nullable String>> found =
        connection.query(
            "SELECT coalesce(max(greatest(reference, refused)), 0) FROM kakehashi_catalog.outcomes WHERE endpoint = "
                + endpoint
                + " AND place >= "
                + PLACES);
    return Long.parseLong(String.valueOf(found.getFirst().getFirst()));
  }

  /// How transactions of earlier lives have ended.
  ///
  /// @param waits whether to wait for commits that are still on their way, which needs a lock of the table; a server without such locks has
  ///     to end them by itself
  /// @param decided whether no part of a transaction is left that may still be committed, see [UndecidedParts]; else a missing outcome says
  ///     nothing
  /// @throws dev.kakehashi.pgwire.wire.ServerError also when they take longer than some seconds
  public static RecoveredOutcomes recovered(
      WireConnection connection, long endpoint, boolean waits, boolean decided) {
    Map<Integer, Long> commits = new HashMap<>();
    String lock =
        "SET LOCAL lock_timeout = %d; LOCK TABLE kakehashi_catalog.outcomes IN SHARE MODE; "
            .formatted(LOCK_MILLIS);
    List<List<@Nullable String>> rows =
        connection.query(
            (waits ? lock : "")
                + "SELECT place, reference FROM kakehashi_catalog.outcomes WHERE endpoint = "
                + endpoint
                + " AND reference <> 0 AND place < "
                + PLACES);
    for (List<@Nullable String> row : rows) {
      commits.put(
          Integer.valueOf(String.valueOf(row.get(0))), Long.valueOf(String.valueOf(row.get(1))));
    }
    return new RecoveredOutcomes(
        commits, Map.of(), decided && OutcomesTable.committedBefore(connection) == null);
  }
}
