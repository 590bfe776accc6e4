package dev.kakehashi.client;

import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import java.time.Duration;

/// How a transaction begins.
///
/// @param lease how long it lives without a request; zero: the endpoint's default
/// @param label for displays
public record TransactionOptions(
    TransactionKind kind, IsolationLevel isolation, Duration lease, String label) {
  public static final TransactionOptions DEFAULT =
      new TransactionOptions(TransactionKind.OCC, IsolationLevel.READ_COMMITTED, Duration.ZERO, "");

  public static final TransactionOptions READ_ONLY =
      new TransactionOptions(
          TransactionKind.RTX, IsolationLevel.REPEATABLE_READ, Duration.ZERO, "");

  public TransactionOptions withKind(TransactionKind newKind) {
    return new TransactionOptions(newKind, isolation, lease, label);
  }

  public TransactionOptions withIsolation(IsolationLevel level) {
    return new TransactionOptions(kind, level, lease, label);
  }

  public TransactionOptions withLease(Duration newLease) {
    return new TransactionOptions(kind, isolation, newLease, label);
  }
}
