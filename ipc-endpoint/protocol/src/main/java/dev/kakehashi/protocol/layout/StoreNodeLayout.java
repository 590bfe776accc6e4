package dev.kakehashi.protocol.layout;

/// Head of a node of an index in the shared memory of a store.
public final class StoreNodeLayout {
  public static final int VERSION_OFFSET = 0;
  public static final int LEVEL_OFFSET = 8;
  public static final int COUNT_OFFSET = 10;
  public static final int HEAP_START_OFFSET = 12;
  public static final int HEAP_USED_OFFSET = 14;
  public static final int LEFTMOST_OFFSET = 16;
  public static final int HEAD_BYTES = 32;

  private StoreNodeLayout() {}
}
