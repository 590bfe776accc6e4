package dev.kakehashi.sharedmemory;

import dev.kakehashi.protocol.MalformedFrameException;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Executes what one kind of request asks for. Poller only; throws as [FrameHandler] does.
interface ExecutionHandler {
  /// @param whenEnded called once after the end of the execution, on any thread; null: nothing
  void execute(
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      DirectBuffer frame,
      @Nullable Runnable whenEnded);

  /// Handle of the transaction that a request continues; -1: it continues none.
  ///
  /// @throws MalformedFrameException as [dev.kakehashi.protocol.Frames#wrap] does
  long continuedHandle(DirectBuffer frame);
}
