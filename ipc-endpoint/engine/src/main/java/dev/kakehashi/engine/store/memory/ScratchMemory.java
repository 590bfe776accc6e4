package dev.kakehashi.engine.store.memory;

/// Native memory for a while, outside of any pool and its limit. Zeroed; resident only as far as it has been touched. Its owner closes it
/// when nobody reads it any more.
public final class ScratchMemory implements AutoCloseable {
  private final long address;
  private final long bytes;

  /// @param atLeast bytes wanted, at least 1
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY if the system has none
  public ScratchMemory(long atLeast) {
    bytes = (atLeast + SystemMemory.HUGE_PAGE_BYTES - 1) & -SystemMemory.HUGE_PAGE_BYTES;
    address = SystemMemory.mapHuge(bytes);
  }

  /// A multiple of 8.
  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  @Override
  public void close() {
    SystemMemory.unmap(address, bytes);
  }
}
