package dev.kakehashi.protocol.layout;

/// Begin of the shared memory of a store. The endpoint writes, readers validate, see PROTOCOL.md.
public final class StoreHeadLayout {
  public static final int MAGIC_OFFSET = 0;
  public static final int BASE_OFFSET = 8;
  public static final int RESERVED_BYTES_OFFSET = 16;
  public static final int FILE_BYTES_OFFSET = 128;
  public static final int MOVED_OFFSET = 256;
  public static final int DURABLE_OFFSET = 384;
  public static final int COMMON_OFFSET = 512;
  public static final int DEFINITIONS_OFFSET = 640;
  public static final int COLLECTED_OFFSET = 768;
  public static final int HEAD_BYTES = 4096;

  /// The bytes KSROTS01.
  public static final long MAGIC = 0x3130_5354_4f52_534bL;

  private StoreHeadLayout() {}
}
