package dev.kakehashi.client;

/// Outcome of a load. `read` is the sum of the three numbers after it.
///
/// @param read rows of the files
/// @param rejected rows that could not be loaded
/// @param filtered rows that the condition has left out
/// @param rejectFile where the rejected rows are, as a location of the endpoint; empty: nowhere
/// @param loadId by which a load in batches goes on after it broke off; empty: it has none
public record LoadOutcome(
    long read, long loaded, long rejected, long filtered, String rejectFile, String loadId) {
  public static final LoadOutcome NOTHING = new LoadOutcome(0, 0, 0, 0, "", "");

  /// The sum of both, with the last file of rejected rows.
  public LoadOutcome plus(LoadOutcome other) {
    return new LoadOutcome(
        read + other.read,
        loaded + other.loaded,
        rejected + other.rejected,
        filtered + other.filtered,
        other.rejectFile.isEmpty() ? rejectFile : other.rejectFile,
        other.loadId.isEmpty() ? loadId : other.loadId);
  }

  static LoadOutcome of(Rows rows) {
    LoadOutcome report = NOTHING;
    while (rows.next()) {
      report =
          new LoadOutcome(
              rows.getLong(0),
              rows.getLong(1),
              rows.getLong(2),
              rows.getLong(3),
              rows.isNull(4) ? "" : rows.getString(4),
              rows.isNull(5) ? "" : rows.getString(5));
    }
    return report;
  }
}
