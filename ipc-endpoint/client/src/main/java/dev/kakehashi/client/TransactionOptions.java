package dev.kakehashi.client;

import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import java.time.Duration;

/// How a transaction begins.
///
/// Tables are named as SQL names them: `orders`, `archive."Order lines"`. A begin fails with 42P01 if there is no such table.
///
/// @param lease how long it lives without a request; zero: the endpoint's default
/// @param timeout the transaction is rolled back with 25P04 after this time; zero: never
/// @param priority of a long transaction: of those that conflict, greater ones go first
/// @param label for displays and messages
/// @param writePreserve tables that a long transaction may write, separated by commas; short ones that write them give way with 40001
/// @param readInclude tables that a long transaction may read, besides those that it may write; empty: all
/// @param readExclude tables that a long transaction does not read
/// @param deferrable whether a read-only SERIALIZABLE transaction waits, before its first statement, for a snapshot with which it makes no
///     other fail; others do not care
public record TransactionOptions(
    TransactionKind kind,
    IsolationLevel isolation,
    Duration lease,
    Duration timeout,
    int priority,
    String label,
    String writePreserve,
    String readInclude,
    String readExclude,
    boolean deferrable) {
  public static final TransactionOptions DEFAULT =
      of(TransactionKind.OCC, IsolationLevel.READ_COMMITTED);

  public static final TransactionOptions READ_ONLY =
      of(TransactionKind.RTX, IsolationLevel.REPEATABLE_READ);

  private static TransactionOptions of(TransactionKind kind, IsolationLevel isolation) {
    return new TransactionOptions(
        kind, isolation, Duration.ZERO, Duration.ZERO, 0, "", "", "", "", false);
  }

  /// A long transaction, serializable, that writes these tables.
  public static TransactionOptions writing(String... tables) {
    return of(TransactionKind.LTX, IsolationLevel.SERIALIZABLE).withWritePreserve(tables);
  }

  public TransactionOptions withKind(TransactionKind newKind) {
    return new TransactionOptions(
        newKind,
        isolation,
        lease,
        timeout,
        priority,
        label,
        writePreserve,
        readInclude,
        readExclude,
        deferrable);
  }

  public TransactionOptions withIsolation(IsolationLevel level) {
    return new TransactionOptions(
        kind,
        level,
        lease,
        timeout,
        priority,
        label,
        writePreserve,
        readInclude,
        readExclude,
        deferrable);
  }

  public TransactionOptions withLease(Duration newLease) {
    return new TransactionOptions(
        kind,
        isolation,
        newLease,
        timeout,
        priority,
        label,
        writePreserve,
        readInclude,
        readExclude,
        deferrable);
  }

  public TransactionOptions withTimeout(Duration newTimeout) {
    return new TransactionOptions(
        kind,
        isolation,
        lease,
        newTimeout,
        priority,
        label,
        writePreserve,
        readInclude,
        readExclude,
        deferrable);
  }

  public TransactionOptions withPriority(int newPriority) {
    return new TransactionOptions(
        kind,
        isolation,
        lease,
        timeout,
        newPriority,
        label,
        writePreserve,
        readInclude,
        readExclude,
        deferrable);
  }

  public TransactionOptions withLabel(String newLabel) {
    return new TransactionOptions(
        kind,
        isolation,
        lease,
        timeout,
        priority,
        newLabel,
        writePreserve,
        readInclude,
        readExclude,
        deferrable);
  }

  public TransactionOptions withWritePreserve(String... tables) {
    return new TransactionOptions(
        kind,
        isolation,
        lease,
        timeout,
        priority,
        label,
        String.join(", ", tables),
        readInclude,
        readExclude,
        deferrable);
  }

  public TransactionOptions withReadAreas(String include, String exclude) {
    return new TransactionOptions(
        kind,
        isolation,
        lease,
        timeout,
        priority,
        label,
        writePreserve,
        include,
        exclude,
        deferrable);
  }

  public TransactionOptions withDeferrable(boolean whether) {
    return new TransactionOptions(
        kind,
        isolation,
        lease,
        timeout,
        priority,
        label,
        writePreserve,
        readInclude,
        readExclude,
        whether);
  }

  /// Whether it says more than the short form of a begin can.
  boolean isExtended() {
    return !timeout.isZero()
        || priority != 0
        || deferrable
        || !writePreserve.isEmpty()
        || !readInclude.isEmpty()
        || !readExclude.isEmpty();
  }
}
