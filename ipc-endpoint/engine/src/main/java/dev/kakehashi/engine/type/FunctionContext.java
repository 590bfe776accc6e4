package dev.kakehashi.engine.type;

import dev.kakehashi.engine.type.time.Zone;
import dev.kakehashi.engine.vector.VarHeap;

/// What a function may use besides its arguments. Confined to one task at a time.
public final class FunctionContext {
  /// Where by-reference results are allocated.
  public VarHeap heap;

  /// Set by a function whose result is null; the caller clears it before the call.
  public boolean resultIsNull;

  /// Microseconds since 2000-01-01 UTC at the statement's start.
  public final long statementTimestamp;

  /// The same at the transaction's start.
  public final long transactionTimestamp;

  /// The time zone of the session.
  public final Zone zone;

  public final SequenceAccess sequences;

  /// A context without sequences, in UTC.
  public FunctionContext(VarHeap heap, long statementTimestamp, long transactionTimestamp) {
    this(heap, statementTimestamp, transactionTimestamp, Zone.UTC, SequenceAccess.NONE);
  }

  public FunctionContext(
      VarHeap heap,
      long statementTimestamp,
      long transactionTimestamp,
      Zone zone,
      SequenceAccess sequences) {
    this.zone = zone;
    this.sequences = sequences;
    this.heap = heap;
    this.statementTimestamp = statementTimestamp;
    this.transactionTimestamp = transactionTimestamp;
  }
}
