package dev.kakehashi.application;

import java.time.Duration;

/// How a procedure runs. Without any call it takes part in the transaction of its caller.
public interface ProcedureOptions {
  ProcedureOptions transaction(TransactionMode mode);

  /// Isolation of transactions that the platform begins ([TransactionMode#OWN]).
  ProcedureOptions isolation(Isolation isolation);

  /// How often a transaction of the platform is tried again after SQLSTATE 40001 or 40P01, 0 to 100; 5 without.
  ProcedureOptions retries(int most);

  /// Longest time of a call; that of the application without.
  ProcedureOptions timeLimit(Duration limit);

  /// Its calls occupy a processor for long: they run on a thread of lower priority.
  ProcedureOptions processorBound();
}
