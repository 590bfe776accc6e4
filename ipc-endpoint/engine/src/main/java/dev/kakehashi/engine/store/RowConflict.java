package dev.kakehashi.engine.store;

/// A change met a row version of another transaction.
public final class RowConflict extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /// What the other transaction has done.
  public enum Kind {
    /// It is still running: wait for its end, then try the statement again.
    OWNER_ACTIVE,
    /// It committed after this transaction's snapshot.
    CHANGED_SINCE_SNAPSHOT
  }

  private final Kind kind;
  private final transient StoreTransaction owner;

  /// @param owner the other transaction; its ended state is enough when `kind` is CHANGED_SINCE_SNAPSHOT
  public RowConflict(Kind kind, StoreTransaction owner) {
    super(kind.name(), null, false, false);
    this.kind = kind;
    this.owner = owner;
  }

  public Kind kind() {
    return kind;
  }

  public StoreTransaction owner() {
    return owner;
  }
}
