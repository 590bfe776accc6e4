package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/// Transactions that were prepared and not decided, by their global identifiers. Thread-safe.
public final class PreparedRegistry {
  private final Map<String, RowTransaction> prepared = new ConcurrentHashMap<>();

  void add(RowTransaction transaction) {
    prepared.put(globalId(transaction), transaction);
  }

  void remove(RowTransaction transaction) {
    prepared.remove(globalId(transaction), transaction);
  }

  private static String globalId(RowTransaction transaction) {
    return Objects.requireNonNull(transaction.preparation()).globalId();
  }

  public int size() {
    return prepared.size();
  }

  public List<StoreTransaction> all() {
    return List.copyOf(prepared.values());
  }

  /// @throws EngineException OBJECT_IN_USE if a prepared transaction has changed rows of the table
  void checkNotInUse(RowTable table) {
    for (RowTransaction transaction : prepared.values()) {
      if (transaction.hasWritten(table)) {
        throw new EngineException(
                ErrorCode.OBJECT_IN_USE,
                "cannot drop or truncate a table that a prepared transaction has changed")
            .withDetail("Transaction \"%s\" is prepared.".formatted(globalId(transaction)))
            .withHint("Commit or roll back the prepared transaction first.");
      }
    }
  }
}
