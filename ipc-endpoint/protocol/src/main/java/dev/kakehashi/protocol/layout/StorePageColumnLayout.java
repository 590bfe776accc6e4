package dev.kakehashi.protocol.layout;

/// Where the values of a column are in a page of the shared memory of a store.
public final class StorePageColumnLayout {
  public static final int PLACE_OFFSET = 0;
  public static final int NULLS_OFFSET = 8;
  public static final int COLUMN_BYTES = 16;

  private StorePageColumnLayout() {}
}
