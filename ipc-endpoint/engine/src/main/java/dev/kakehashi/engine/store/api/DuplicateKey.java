package dev.kakehashi.engine.store.api;

/// A change would make two live rows with the same unique key.
public final class DuplicateKey extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final transient TableDefinition.IndexDefinition index;
  private final boolean newer;

  /// @param newer whether the other row was committed after the snapshot, which does not show it
  public DuplicateKey(TableDefinition.IndexDefinition index, boolean newer) {
    super(index.name(), null, false, false);
    this.index = index;
    this.newer = newer;
  }

  /// Whether the other row was committed after the transaction's snapshot.
  public boolean isNewer() {
    return newer;
  }

  public TableDefinition.IndexDefinition index() {
    return index;
  }
}
