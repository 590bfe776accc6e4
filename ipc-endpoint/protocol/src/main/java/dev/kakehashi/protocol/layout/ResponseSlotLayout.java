package dev.kakehashi.protocol.layout;

/// Head of a response slot. PROTOCOL.md §4 says who writes which field, in which order.
///
/// ```
///  0       384                         frameOffset   inlineOffset      slotBytes
///  | head  | ring[channelWindow] * 32  | final frame | inline batch    |
/// ```
public final class ResponseSlotLayout {
  public static final int CONSUMED_OFFSET = 0;
  public static final int CLIENT_SLEEPING_OFFSET = 8;
  public static final int DIRECT_READS_OFFSET = 16;
  public static final int PRODUCER_WAITING_OFFSET = 128;
  public static final int EVENT_OFFSET = 256;
  public static final int FRAME_BYTES_OFFSET = 260;
  public static final int PRODUCED_OFFSET = 264;
  public static final int STATUS_OFFSET = 272;
  public static final int EXECUTION_NANOS_OFFSET = 280;
  public static final int TRANSACTION_HANDLE_OFFSET = 288;
  public static final int TRANSACTION_REQUEST_OFFSET = 296;
  public static final int HEAD_BYTES = 384;

  /// Value of `status` when the request's final frame is in the slot.
  public static long finishedStatus(long requestId) {
    return requestId << 1 | 1;
  }

  private ResponseSlotLayout() {}
}
