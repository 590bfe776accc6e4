package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.DateTimeTexts;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.type.time.FileDateTimes;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.value.PgTime;
import java.time.Instant;

/// Statement as its files see it. Thread-safe.
///
/// @param memory of the statement, or of its files alone
/// @param dateTimeTexts of the instant at which it began
public record StatementFiles(
    Interrupts.Source statement, MemoryAccount memory, DateTimeTexts dateTimeTexts)
    implements BulkContext {
  /// For a statement that begins now.
  public StatementFiles(Interrupts.Source statement, MemoryAccount memory) {
    this(statement, memory, new FileDateTimes(PgTime.fromInstant(Instant.now())));
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
  public DateTimeTexts dateTimeTexts() {
    return dateTimeTexts;
  }

  @Override
  public void releaseMemory(long bytes) {
    memory.add(-bytes);
  }
}
