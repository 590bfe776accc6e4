package dev.kakehashi.protocol.layout;

/// Cell of an index in the shared memory of a store.
public final class StoreIndexLayout {
  public static final int GENERATION_OFFSET = 0;
  public static final int ROOT_OFFSET = 8;
  public static final int CELL_BYTES = 64;

  private StoreIndexLayout() {}
}
