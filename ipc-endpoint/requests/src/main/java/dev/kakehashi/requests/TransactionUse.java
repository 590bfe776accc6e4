package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;

/// In which transaction a statement runs.
public sealed interface TransactionUse {
  /// In one of its own, which commits with it.
  record AutoCommit(BeginOptions options, CommitResponse response) implements TransactionUse {}

  /// In an open one.
  ///
  /// @param commitAfter whether it commits when the statement has succeeded
  /// @param response of that commit
  record Continue(long handle, boolean commitAfter, CommitResponse response)
      implements TransactionUse {}
}
