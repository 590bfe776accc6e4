package dev.kakehashi.engine.store.memory;

import java.util.ArrayList;
import java.util.List;

/// Memory that nobody else has, in huge pages where the system likes.
final class PrivateArea implements MemoryArea {
  private final List<Long> regions = new ArrayList<>();

  @Override
  public long nextRegion() {
    long region = SystemMemory.mapHuge(Chunk.REGION_BYTES, Chunk.REGION_BYTES);
    regions.add(region);
    return region;
  }

  @Override
  public boolean release(long address, long bytes) {
    return SystemMemory.release(address, bytes);
  }

  /// All who read have entered the readers of nodes.
  @Override
  public void nodesMove() {}

  @Override
  public void close() {
    for (long region : regions) {
      SystemMemory.unmap(region, Chunk.REGION_BYTES);
    }
    regions.clear();
  }
}
