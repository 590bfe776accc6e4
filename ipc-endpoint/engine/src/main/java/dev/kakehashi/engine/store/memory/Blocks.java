package dev.kakehashi.engine.store.memory;

/// Gives blocks of native memory.
public interface Blocks {
  /// Address of `bytes` (at least 1) bytes, a multiple of 8, not zeroed.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY at the limit
  long allocate(long bytes);
}
