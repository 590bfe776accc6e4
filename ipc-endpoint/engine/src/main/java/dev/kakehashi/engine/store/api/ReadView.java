package dev.kakehashi.engine.store.api;

/// View of a reader: everything committed up to `snapshot`, and the own transaction's changes made before statement
/// `statement`. Immutable; obtained from a [StoreTransaction], valid until that transaction ends.
///
/// One of a client's command sees less of the own transaction if changes of that command, or of later ones, were made before its statement.
public sealed class ReadView permits CommandView {
  private final long snapshot;
  private final long transactionId;
  private final int statement;

  /// @param snapshot commit timestamp
  /// @param transactionId of the reader
  /// @param statement number of the reading statement within its transaction
  public ReadView(long snapshot, long transactionId, int statement) {
    this.snapshot = snapshot;
    this.transactionId = transactionId;
    this.statement = statement;
  }

  public final long snapshot() {
    return snapshot;
  }

  public final long transactionId() {
    return transactionId;
  }

  public final int statement() {
    return statement;
  }
}
