package dev.kakehashi.engine.api.bulk;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A checked `COPY … FROM`. Immutable.
public interface LoadRequest {
  LoadControl control();

  /// Opens the files, and reads what says which columns they have.
  ///
  /// @param table for messages, as `schema.table`
  /// @param columns of the column list, or all that are not generated
  /// @param listed whether there is a column list
  /// @throws dev.kakehashi.engine.api.error.EngineException UNDEFINED_FILE, INSUFFICIENT_PRIVILEGE, BAD_COPY_FILE_FORMAT (22P04),
  ///     DATATYPE_MISMATCH, IO_ERROR, ...
  default LoadSource open(
      String table, List<LoadColumn> columns, boolean listed, BulkUser user, BulkContext context) {
    return open(table, columns, listed, List.of(), user, context);
  }

  /// The same, where rows may be left out that do not fulfil all conditions.
  LoadSource open(
      String table,
      List<LoadColumn> columns,
      boolean listed,
      List<LoadCondition> conditions,
      BulkUser user,
      BulkContext context);

  /// Options of the engine's part of a load.
  ///
  /// @param tolerant `ON_ERROR ignore`: rows that violate a constraint are rejected, too
  /// @param batchRows commit after so many rows, outside of the caller's transaction; 0: one transaction, the caller's
  /// @param workers most tasks at a time; 0: as many as there are workers
  /// @param loadId names a load in batches that can go on after it broke off; null: it has no name
  /// @param writePreserve whether a transaction that the load has for itself keeps others from writing the table
  record LoadControl(
      boolean tolerant,
      long batchRows,
      int workers,
      @Nullable String loadId,
      boolean writePreserve) {}
}
