package dev.kakehashi.engine.type;

import dev.kakehashi.engine.vector.ColumnVector;
import org.jspecify.annotations.Nullable;

/// States of one aggregate call, one per group, in arrays indexed by group.
///
/// Partial aggregation: tasks fill accumulators of their own, then one [#merge]s the others. Nulls are skipped as the function wants;
/// DISTINCT and FILTER are the caller's. Confined to one task at a time.
public interface Accumulator extends AutoCloseable {
  /// Makes groups `0 .. groupCount-1` exist; new ones are empty. Never shrinks.
  void resize(int groupCount);

  /// Whether numerics of its arguments may be compact words, or addresses that a scan has marked.
  default boolean takesCompact() {
    return false;
  }

  /// Adds rows to groups.
  ///
  /// @param arguments one column per argument
  /// @param rows positions in the columns; null: `0 .. count-1`
  /// @param groups `groups[i]` is the group of `rows[i]`
  /// @param count number of rows
  /// @throws dev.kakehashi.engine.api.error.EngineException with PostgreSQL's SQLSTATE, for overflow
  void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count);

  /// Adds rows to one group.
  void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group);

  /// Adds the states of another accumulator of the same function: its group i to `groups[i]`, for `0 <= i < count`.
  void merge(Accumulator other, int[] groups, int count);

  /// Sets row `row` of a column to a group's result; by-reference results are fresh in the context's heap.
  void result(int group, ColumnVector out, int row, FunctionContext context);

  /// Bytes held, roughly.
  long memoryBytes();

  /// Frees native memory.
  @Override
  void close();
}
