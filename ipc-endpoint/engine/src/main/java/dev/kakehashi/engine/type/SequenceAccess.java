package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// The sequences as one session uses them. Thread-safe.
public interface SequenceAccess {
  /// Takes the next value; nobody else gets it, whatever becomes of the transaction.
  ///
  /// @throws EngineException SEQUENCE_LIMIT_EXCEEDED
  long next(SequenceDefinition sequence);

  /// The value that the session took last from it.
  ///
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE
  long current(SequenceDefinition sequence);

  /// The value that the session took last from any sequence.
  ///
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE
  long last();

  /// Sets the position, whatever becomes of the transaction.
  ///
  /// @param called whether `value` counts as taken
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE
  void set(SequenceDefinition sequence, long value, boolean called);

  /// Record of the log that the values which the session took rely on; 0: none.
  long reliedOn();

  /// Access of a context that has no sequences.
  SequenceAccess NONE = refusing("cannot use sequences here");

  /// Access of a transaction that changes nothing.
  SequenceAccess READ_ONLY = refusing("cannot use sequences in a read-only transaction");

  private static SequenceAccess refusing(String message) {
    return new SequenceAccess() {
      private EngineException refused() {
        return new EngineException(ErrorCode.READ_ONLY_TRANSACTION, message);
      }

      @Override
      public long next(SequenceDefinition sequence) {
        throw refused();
      }

      @Override
      public long current(SequenceDefinition sequence) {
        throw refused();
      }

      @Override
      public long last() {
        throw refused();
      }

      @Override
      public long reliedOn() {
        return 0;
      }

      @Override
      public void set(SequenceDefinition sequence, long value, boolean called) {
        throw refused();
      }
    };
  }
}
