package dev.kakehashi.transport.endpoint;

import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Handler that the transport hands requests to. All calls come from the poller, one at a time, and must not block.
public interface RequestHandler {
  /// A request has arrived.
  ///
  /// @param session where it belongs; its queue has been checked
  /// @param requestId of the request
  /// @param channel takes rows and the final frame, exactly one; null when the client wants no response
  /// @param templateId message, with a checked header
  /// @param frame the whole message; valid during the call
  /// @throws dev.kakehashi.protocol.MalformedFrameException when it is not a whole valid message: the session is ended
  void request(
      EndpointSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      int templateId,
      DirectBuffer frame);

  /// The client is gone. Channels of the session refuse more rows; each request that is still running has to be finished.
  void sessionClosed(EndpointSession session);

  /// Called at least once a second, and whenever the time that the last call asked for is there.
  ///
  /// @return when to call again at the latest, in nanoseconds from now
  long tick(long nowNanos);

  /// Transactions with a handle that have not ended, for display. Poller only.
  default int openTransactions() {
    return 0;
  }
}
