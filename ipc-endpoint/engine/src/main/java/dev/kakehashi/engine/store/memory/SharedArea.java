package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Memory of a file that has no name, which other processes map for reading: [#descriptor()].
///
/// The head lies at the file's begin, regions behind it, all in one range of addresses that is reserved at once: so an address says where
/// in the file its memory is, and its distance from the head is the same in every process. The file only grows. Memory is given back by
/// punching holes, which read as zeros in every process.
public final class SharedArea implements MemoryArea {
  /// Addresses that are reserved for a byte of the store's limit, which may be raised; large blocks are elsewhere.
  private static final int ADDRESSES_PER_LIMIT = 4;

  private static final long LEAST_ADDRESS_BYTES = 64L << 30;

  private final long reservedBytes;
  private final int descriptor;
  private final StoreHead head;
  private long fileBytes;

  /// @param limitBytes of the store's memory
  /// @throws EngineException OUT_OF_MEMORY: the system refuses
  public SharedArea(long limitBytes) {
    long wanted = Math.max(LEAST_ADDRESS_BYTES, ADDRESSES_PER_LIMIT * limitBytes);
    reservedBytes = (wanted + Chunk.REGION_BYTES - 1) & -Chunk.REGION_BYTES;
    descriptor = SystemMemory.anonymousFile("kakehashi-store");
    long reserved = 0;
    try {
      reserved = SystemMemory.reserve(reservedBytes, Chunk.REGION_BYTES);
      grow(reserved, Chunk.REGION_BYTES);
    } finally {
      if (fileBytes == 0) {
        if (reserved != 0) {
          SystemMemory.unmap(reserved, reservedBytes);
        }
        SystemMemory.closeFile(descriptor);
      }
    }
    head = new StoreHead(reserved);
    head.begin(reservedBytes, fileBytes);
  }

  private void grow(long at, long bytes) {
    SystemMemory.lengthen(descriptor, fileBytes + bytes);
    SystemMemory.mapFile(at + fileBytes, bytes, descriptor, fileBytes);
    fileBytes += bytes;
  }

  /// Descriptor of the file in this process, for reading and writing. A process that gets it can read every row.
  public int descriptor() {
    return descriptor;
  }

  public StoreHead head() {
    return head;
  }

  @Override
  public long nextRegion() {
    if (fileBytes == reservedBytes) {
      throw new EngineException(
          ErrorCode.OUT_OF_MEMORY,
          "store has used the %d GB of addresses that it shares".formatted(reservedBytes >> 30));
    }
    long region = head.address() + fileBytes;
    grow(head.address(), Chunk.REGION_BYTES);
    head.fileBytes(fileBytes);
    return region;
  }

  @Override
  public boolean release(long address, long bytes) {
    return SystemMemory.punch(address, bytes);
  }

  @Override
  public void nodesMove() {
    head.nodesMove();
  }

  @Override
  public void close() {
    head.close();
    SystemMemory.unmap(head.address(), reservedBytes);
    SystemMemory.closeFile(descriptor);
  }
}
