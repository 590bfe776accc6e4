package dev.kakehashi.pgwire.catalog;

import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.pgwire.wire.WireConnection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a transaction writes when it commits, so that its outcome can be looked up if the answer is lost: one row for each place that transactions have, which the next one
/// there overwrites.
///
/// The row of a transaction that was prepared says who it was until it is decided; the decision is not in it.
public final class Outcomes {
  static final String TABLE =
      "CREATE TABLE IF NOT EXISTS kakehashi_catalog.outcomes (endpoint int8, place int4, reference int8 NOT NULL,"
          + " PRIMARY KEY (endpoint, place)) WITH (fillfactor = 50)";

  /// Writes the row; parameters: endpoint, place, reference.
  public static final String WRITE =
      "INSERT INTO kakehashi_catalog.outcomes AS o (endpoint, place, reference) VALUES ($1, $2, $3)"
          + " ON CONFLICT (endpoint, place) DO UPDATE SET reference = excluded.reference";

  private static final int PLACES = 1 << 16;

  private Outcomes() {}

  /// What a transaction writes.
  ///
  /// @param place see [RecoveredOutcomes#place(long)], or from 65536 on that of a transaction without a reference
  /// @param reference of the transaction
  public record Row(long endpoint, int place, long reference) {}

  /// The row of a transaction.
  ///
  /// @param reference see [dev.kakehashi.engine.api.EngineTransaction#reference(long)]; 0: none
  /// @param slot of its connection
  /// @param number of the transaction in the life of this endpoint
  public static Row row(long endpoint, long reference, int slot, long number) {
    return reference == 0
        ? new Row(endpoint, PLACES + slot, number)
        : new Row(endpoint, RecoveredOutcomes.place(reference), reference);
  }

  /// Whether the row is there: its transaction has committed. Nothing of the transaction may run any more.
  public static boolean isThere(WireConnection connection, Row row) {
    return !connection
        .query(
            "SELECT 1 FROM kakehashi_catalog.outcomes WHERE endpoint = "
                + row.endpoint()
                + " AND place = "
                + row.place()
                + " AND reference = "
                + row.reference())
        .isEmpty();
  }

  /// Forgets rows of an earlier life whose numbers this one uses again.
  public static void begin(WireConnection connection, long endpoint) {
    connection.query(
        "DELETE FROM kakehashi_catalog.outcomes WHERE endpoint = "
            + endpoint
            + " AND place >= "
            + PLACES);
  }

  /// How transactions of earlier lives have ended.
  public static RecoveredOutcomes recovered(WireConnection connection, long endpoint) {
    Map<Integer, Long> commits = new HashMap<>();
    List<List<@Nullable String>> rows =
        connection.query(
            "SELECT place, reference FROM kakehashi_catalog.outcomes WHERE endpoint = "
                + endpoint
                + " AND place < "
                + PLACES);
    for (List<@Nullable String> row : rows) {
      commits.put(
          Integer.valueOf(String.valueOf(row.get(0))), Long.valueOf(String.valueOf(row.get(1))));
    }
    return new RecoveredOutcomes(commits, Map.of());
  }
}
