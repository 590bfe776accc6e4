package dev.kakehashi.engine.catalog;

import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// What a planner asks about the running engine: how many rows a table has, and the rows of system tables that show the engine's state.
public interface LiveTables extends ToLongFunction<Table> {
  /// Prepared transactions: transaction_id, gid, prepared_at, owner, user_name, handle.
  List<@Nullable Object[]> preparedTransactions();
}
