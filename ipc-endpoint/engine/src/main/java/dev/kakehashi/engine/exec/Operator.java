package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// One step of a chain: hands out batches that it gets from the operator below.
///
/// Confined to the task that runs the chain. `open`, `next` until null, `close`; then it may be opened again.
abstract class Operator {
  /// Begins an execution.
  abstract void open();

  /// Next batch with at least one live row, valid until the next call; null at the end.
  abstract @Nullable VectorBatch next();

  /// Frees what the execution holds. Idempotent.
  abstract void close();
}
