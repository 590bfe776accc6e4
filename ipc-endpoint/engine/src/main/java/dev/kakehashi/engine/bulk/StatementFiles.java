package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.valuetext.time.Clock;

/// Statement as its files see it. Thread-safe.
///
/// @param memory of the statement, or of its files alone
/// @param now the instant at which it began, in microseconds since 2000-01-01 UTC
public record StatementFiles(Interrupts.Source statement, MemoryAccount memory, long now)
    implements BulkContext {
  /// For a statement that begins now.
  public StatementFiles(Interrupts.Source statement, MemoryAccount memory) {
    this(statement, memory, Clock.now());
  }

  /// With memory of their own, besides that of the statement's plan.
  ///
  /// @param memoryBytes most that they may hold
  public static StatementFiles of(
      Interrupts.Source statement, long memoryBytes, TempSpace tempSpace) {
    MemoryAccount own = new MemoryAccount();
    own.open(memoryBytes, tempSpace, statement::checkCanceled);
    return new StatementFiles(statement, own);
  }

  @Override
  public void checkCanceled() {
    statement.checkCanceled();
  }

  @Override
  public void reserveMemory(long bytes) {
    try {
      memory.add(bytes);
    } catch (RuntimeException refused) {
      memory.add(-bytes);
      throw refused;
    }
  }

  @Override
  public void releaseMemory(long bytes) {
    memory.add(-bytes);
  }
}
