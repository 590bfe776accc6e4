package dev.kakehashi.application;

import java.time.Duration;

/// How a route runs. Without any call it has a transaction of the platform ([TransactionMode#OWN]).
public interface RouteOptions {
  RouteOptions transaction(TransactionMode mode);

  RouteOptions isolation(Isolation isolation);

  /// As [ProcedureOptions#retries].
  RouteOptions retries(int most);

  RouteOptions timeLimit(Duration limit);

  /// As [ProcedureOptions#processorBound].
  RouteOptions processorBound();

  /// HTTP status of a result of this class; 200 without, 204 of [Void].
  RouteOptions status(Class<?> result, int status);
}
