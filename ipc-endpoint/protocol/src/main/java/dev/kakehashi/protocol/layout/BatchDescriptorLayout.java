package dev.kakehashi.protocol.layout;

/// Entry of a slot's ring: where batch n lies.
public final class BatchDescriptorLayout {
  public static final int OFFSET_OFFSET = 0;
  public static final int BYTES_OFFSET = 8;
  public static final int ROW_COUNT_OFFSET = 12;
  public static final int DESCRIPTOR_BYTES = 32;

  /// Offset of the descriptor of batch `n` within its slot.
  public static int offsetInSlot(long n, int channelWindow) {
    return ResponseSlotLayout.HEAD_BYTES
        + (int) Long.remainderUnsigned(n, channelWindow) * DESCRIPTOR_BYTES;
  }

  private BatchDescriptorLayout() {}
}
