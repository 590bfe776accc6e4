package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.store.api.StoreConfig;
import java.nio.file.Path;

/// How an engine is opened.
///
/// @param store data directory and memory for rows
/// @param statementMemoryBytes most bytes one statement may hold for hash tables, sorts and materialised rows
/// @param tempSpaceBytes most bytes all statements may have on the disk for what does not fit into their memory
/// @param maxTransactions most open transactions
/// @param planCacheEntries plans kept, 1 or more
/// @param lockTimeoutNanos longest wait of a statement for one lock, of a table or row, unless its options say one; 0: for ever
/// @param applications opens the system of native applications; gives null: there is none
/// @param conflictDelayNanos how long a standby lets readers keep tables that its primary has dropped or changed
public record EngineConfig(
    StoreConfig store,
    long statementMemoryBytes,
    long tempSpaceBytes,
    int maxTransactions,
    int planCacheEntries,
    long lockTimeoutNanos,
    ApplicationSystem.Opener applications,
    long conflictDelayNanos) {
  private static final long STATEMENT_MEMORY_BYTES = 1L << 30;
  private static final long TEMP_SPACE_BYTES = 16L << 30;
  private static final int MAX_TRANSACTIONS = 10_000;
  private static final int PLAN_CACHE_ENTRIES = 1000;
  private static final long CONFLICT_DELAY_NANOS = 30_000_000_000L;

  /// An engine without applications.
  public EngineConfig(
      StoreConfig store,
      long statementMemoryBytes,
      long tempSpaceBytes,
      int maxTransactions,
      int planCacheEntries,
      long lockTimeoutNanos) {
    this(
        store,
        statementMemoryBytes,
        tempSpaceBytes,
        maxTransactions,
        planCacheEntries,
        lockTimeoutNanos,
        () -> null,
        CONFLICT_DELAY_NANOS);
  }

  /// The same with another delay of a standby.
  public EngineConfig withConflictDelay(long nanos) {
    return new EngineConfig(
        store,
        statementMemoryBytes,
        tempSpaceBytes,
        maxTransactions,
        planCacheEntries,
        lockTimeoutNanos,
        applications,
        nanos);
  }

  /// The same with applications.
  public EngineConfig withApplications(ApplicationSystem.Opener opener) {
    return new EngineConfig(
        store,
        statementMemoryBytes,
        tempSpaceBytes,
        maxTransactions,
        planCacheEntries,
        lockTimeoutNanos,
        opener,
        conflictDelayNanos);
  }

  /// 1 GB per statement, 16 GB of temporary files, 10000 transactions, 1000 plans; locks are waited for as long as it takes.
  public static EngineConfig of(Path directory) {
    return new EngineConfig(
        StoreConfig.of(directory),
        STATEMENT_MEMORY_BYTES,
        TEMP_SPACE_BYTES,
        MAX_TRANSACTIONS,
        PLAN_CACHE_ENTRIES,
        0);
  }
}
