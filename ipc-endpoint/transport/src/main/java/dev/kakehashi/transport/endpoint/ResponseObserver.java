package dev.kakehashi.transport.endpoint;

import org.agrona.DirectBuffer;

/// A [RequestHandler] that is told of every answer, too. Costs nothing where the handler is none.
public interface ResponseObserver {
  /// An answer is about to be published: what the client does because of it comes later. Any thread; the lock of the response is
  /// held, so this must not wait for anything that another response does.
  ///
  /// @param frame the final frame, in memory that the client can write: to be checked like a request
  void responding(EndpointSession session, long requestId, DirectBuffer frame);
}
