package dev.kakehashi.engine.store;

/// A change would make two live rows with the same unique key.
public final class DuplicateKey extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final transient TableDefinition.IndexDefinition index;

  public DuplicateKey(TableDefinition.IndexDefinition index) {
    super(index.name(), null, false, false);
    this.index = index;
  }

  public TableDefinition.IndexDefinition index() {
    return index;
  }
}
