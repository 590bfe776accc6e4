package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.exec.operator.BatchConsumer;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import org.jspecify.annotations.Nullable;

/// The end of a statement that locks or changes rows: it may be tried again from its beginning, so rows for the client are kept until it
/// has succeeded.
public interface ChangeConsumer extends BatchConsumer {
  /// Begins an execution; rows and counts of earlier ones stay.
  void begin();

  /// Rows for the client, or null when there are none.
  @Nullable RowBuffer returned();

  @Override
  default boolean finish() {
    return true;
  }

  @Override
  default void abandon() {}

  /// Frees what is held.
  void close();
}
