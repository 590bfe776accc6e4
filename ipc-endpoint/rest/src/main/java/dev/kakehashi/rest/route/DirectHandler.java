package dev.kakehashi.rest.route;

/// Answers the requests of a route on the thread that reads sockets, so that a short request meets no other thread: it must not block, and
/// it must be done within microseconds.
@FunctionalInterface
public interface DirectHandler {
  /// Answers, by one of the sending methods or [Exchange#fail], now or later (after [Exchange#waits]) and on any thread, exactly once. Or
  /// hands the exchange on to a thread that may block, by [Exchange#block].
  ///
  /// @param body whole, at most as long as the route allows; empty: there is none. The handler's
  /// @throws Exception as [Handler#handle]; only before it has answered or handed on
  void handle(Exchange exchange, byte[] body) throws Exception;
}
