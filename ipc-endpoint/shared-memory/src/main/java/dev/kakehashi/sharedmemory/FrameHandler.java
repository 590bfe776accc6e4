package dev.kakehashi.sharedmemory;

import org.agrona.DirectBuffer;

/// Decodes one kind of request and calls what handles it. Poller only.
@FunctionalInterface
interface FrameHandler {
  /// Whatever it throws is the request's answer, but for what says that the frame is malformed: MalformedFrameException,
  /// IndexOutOfBoundsException, IllegalArgumentException.
  ///
  /// @param response of the request; takes exactly one answer
  /// @param frame the whole message; valid during the call
  void handle(
      SharedMemorySession session, long requestId, SlotResponse response, DirectBuffer frame);
}
