package dev.kakehashi.protocol.layout;

/// Page of rows in the shared memory of a store; [StorePageColumnLayout]s follow.
public final class StorePageLayout {
  public static final int VERSION_OFFSET = 0;
  public static final int STAMPS_OFFSET = 8;
  public static final int COLUMNS_OFFSET = 16;
  public static final int PAGE_BYTES = 24;

  private StorePageLayout() {}
}
