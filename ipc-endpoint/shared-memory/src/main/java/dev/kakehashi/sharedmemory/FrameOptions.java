package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.messages.BeginTransactionDecoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.InvokeDecoder;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import org.agrona.DirectBuffer;

/// Options of requests, from the messages to the engine. A value that names nothing is an IllegalArgumentException, by which a frame is
/// known to be malformed.
final class FrameOptions {
  private static final long NANOS_PER_MILLI = 1_000_000L;

  private FrameOptions() {}

  static BeginOptions options(TransactionKind kind, IsolationLevel isolation, String label) {
    BeginOptions.Kind engineKind =
        switch (kind) {
          case OCC -> BeginOptions.Kind.OCC;
          case LTX -> BeginOptions.Kind.LTX;
          case RTX -> BeginOptions.Kind.RTX;
          case NULL_VAL -> throw new IllegalArgumentException("no kind of transaction");
        };
    BeginOptions.Isolation engineIsolation =
        switch (isolation) {
          case READ_COMMITTED -> BeginOptions.Isolation.READ_COMMITTED;
          case REPEATABLE_READ -> BeginOptions.Isolation.REPEATABLE_READ;
          case SERIALIZABLE -> BeginOptions.Isolation.SERIALIZABLE;
          case NULL_VAL -> throw new IllegalArgumentException("no isolation level");
        };
    return new BeginOptions(engineKind, engineIsolation, label);
  }

  /// Options of a transaction as its client has sent them.
  static BeginOptions options(BeginTransactionDecoder begin, DirectBuffer frame) {
    long timeoutNanos = begin.timeoutNanos();
    // Older clients do not say it: then it reads as the null value.
    boolean deferrable = begin.deferrable() == 1;
    BeginOptions kind = options(begin.kind(), begin.isolation(), Frames.nextText(begin, frame));
    return new BeginOptions(
        kind.kind(),
        kind.isolation(),
        kind.label(),
        begin.priority(),
        timeoutNanos < 0 ? Long.MAX_VALUE : timeoutNanos,
        new BeginOptions.Areas(
            Frames.nextText(begin, frame),
            Frames.nextText(begin, frame),
            Frames.nextText(begin, frame)),
        deferrable);
  }

  static EngineTransaction.CommitResponse response(CommitResponse response) {
    return switch (response) {
      case STORED -> EngineTransaction.CommitResponse.STORED;
      case AVAILABLE -> EngineTransaction.CommitResponse.AVAILABLE;
      case NULL_VAL -> throw new IllegalArgumentException("no kind of commit response");
    };
  }

  /// Like [#options(TransactionKind, IsolationLevel, String)] without a label; the usual ones are not made anew for each statement.
  static BeginOptions options(TransactionKind kind, IsolationLevel isolation) {
    return kind == TransactionKind.OCC && isolation == IsolationLevel.READ_COMMITTED
        ? BeginOptions.DEFAULT
        : options(kind, isolation, "");
  }

  static ExecuteOptions of(InvokeDecoder invoke) {
    return ExecuteOptions.of(
        invoke.flags().newSnapshot(),
        invoke.timeoutMillis() * NANOS_PER_MILLI,
        (int) invoke.command(),
        invoke.lockTimeoutMillis() * NANOS_PER_MILLI);
  }

  static ExecuteOptions of(ExecuteDecoder execute) {
    boolean newSnapshot = execute.flags().newSnapshot();
    long timeoutNanos = execute.timeoutMillis() * NANOS_PER_MILLI;
    long command = execute.command();
    long lockTimeoutMillis = execute.lockTimeoutMillis();
    // Frames of earlier versions, which are replayed, do not have all fields.
    return ExecuteOptions.of(
        newSnapshot,
        timeoutNanos,
        command == ExecuteDecoder.commandNullValue() ? 0 : (int) command,
        lockTimeoutMillis == ExecuteDecoder.lockTimeoutMillisNullValue()
            ? 0
            : lockTimeoutMillis * NANOS_PER_MILLI);
  }
}
