package dev.kakehashi.engine.store.api;

import java.util.List;

/// A change met a row version of another transaction.
public final class RowConflict extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /// State of the other transaction.
  public enum Kind {
    /// It is still running: wait for its end, then try the statement again.
    OWNER_ACTIVE,
    /// It committed after this transaction's snapshot.
    CHANGED_SINCE_SNAPSHOT,
    /// It committed after this transaction's snapshot what this one has looked for and not found, or found otherwise.
    READ_SINCE_CHANGED,
    /// It is a long transaction that keeps the whole table from others: give way.
    PRESERVED
  }

  private final Kind kind;
  private final transient List<StoreTransaction> owners;
  private final long tableId;
  private final long rowId;
  private final String ownerName;

  /// @param tableId the table
  /// @param rowId the row that both wanted; -1: not known
  /// @param owner the other transaction; its ended state is enough when `kind` is CHANGED_SINCE_SNAPSHOT or READ_SINCE_CHANGED
  public RowConflict(Kind kind, StoreTransaction owner, long tableId, long rowId) {
    this(kind, List.of(owner), tableId, rowId, "");
  }

  private RowConflict(
      Kind kind, List<StoreTransaction> owners, long tableId, long rowId, String ownerName) {
    super(kind.name(), null, false, false);
    this.ownerName = ownerName;
    this.kind = kind;
    this.owners = owners;
    this.tableId = tableId;
    this.rowId = rowId;
  }

  /// @param ownerName how messages name the owner
  public static RowConflict preserved(StoreTransaction owner, long tableId, String ownerName) {
    return new RowConflict(Kind.PRESERVED, List.of(owner), tableId, -1, ownerName);
  }

  /// A row that others hold together.
  ///
  /// @param owners at least one; the wait is over when all of them have ended
  public static RowConflict shared(List<StoreTransaction> owners, long tableId, long rowId) {
    return new RowConflict(Kind.OWNER_ACTIVE, List.copyOf(owners), tableId, rowId, "");
  }

  /// How messages name the owner; known for PRESERVED only.
  public String ownerName() {
    return ownerName;
  }

  public long tableId() {
    return tableId;
  }

  public long rowId() {
    return rowId;
  }

  public Kind kind() {
    return kind;
  }

  /// One of [#owners()].
  public StoreTransaction owner() {
    return owners.getFirst();
  }

  /// All whose end is waited for.
  public List<StoreTransaction> owners() {
    return owners;
  }
}
