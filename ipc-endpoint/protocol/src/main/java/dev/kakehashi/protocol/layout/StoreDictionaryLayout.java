package dev.kakehashi.protocol.layout;

/// Cell of the values that many rows of a column have, in the shared memory of a store.
public final class StoreDictionaryLayout {
  public static final int GENERATION_OFFSET = 0;
  public static final int VALUES_OFFSET = 8;
  public static final int COUNT_OFFSET = 16;
  public static final int CELL_BYTES = 64;

  private StoreDictionaryLayout() {}
}
