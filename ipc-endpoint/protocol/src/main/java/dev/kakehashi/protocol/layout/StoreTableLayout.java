package dev.kakehashi.protocol.layout;

/// Cell of a table in the shared memory of a store.
public final class StoreTableLayout {
  public static final int GENERATION_OFFSET = 0;
  public static final int VERSION_OFFSET = 8;
  public static final int PARTS_OFFSET = 16;
  public static final int PART_COUNT_OFFSET = 24;
  public static final int CELL_BYTES = 64;

  /// Pages of a part of the directory.
  public static final int PART_PAGES = 512;

  private StoreTableLayout() {}
}
