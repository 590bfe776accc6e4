package dev.kakehashi.engine.store.memory;

/// Where a pool gets regions of address space from. Not thread-safe: [ChunkSource] calls under its lock.
interface MemoryArea extends AutoCloseable {
  /// Address space of [Chunk#REGION_BYTES] at a multiple of that, which the system fills with zeroed pages when they are touched.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY: there is no more
  long nextRegion();

  /// Gives the memory behind addresses of a region back; they stay mapped, and read as zeros until they are written again.
  ///
  /// @param address a multiple of 4096, as `bytes`
  /// @return false if the system refuses; then nothing has changed
  boolean release(long address, long bytes);

  /// Memory of nodes that have been freed is about to become something else.
  void nodesMove();

  /// Unmaps all of it.
  @Override
  void close();
}
