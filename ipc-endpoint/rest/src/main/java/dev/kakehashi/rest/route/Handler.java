package dev.kakehashi.rest.route;

/// Answers the requests of a route on a virtual thread of each request's own: it may block.
@FunctionalInterface
public interface Handler {
  /// Answers, by one of the sending methods of the exchange, before it returns, unless [Exchange#read] has called it. An exception becomes
  /// the answer, or breaks the one that has begun.
  ///
  /// @throws Exception a [dev.kakehashi.rest.problem.Problem] or an EngineException as it is; others are 500
  void handle(Exchange exchange) throws Exception;
}
