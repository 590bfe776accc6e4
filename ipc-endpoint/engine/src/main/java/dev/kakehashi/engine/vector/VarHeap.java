package dev.kakehashi.engine.vector;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Native memory for by-reference values: allocation by bumping a pointer, release all at once.
///
/// Every allocation is a multiple of 8 and lives until [#reset()] or [#close()]. Confined to one task at a time.
public final class VarHeap implements AutoCloseable {
  /// All native memory, for access by absolute address. Whoever uses it vouches for the address.
  @SuppressWarnings("restricted") // values are passed as addresses; their owners keep them alive
  public static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final long FIRST_BLOCK_BYTES = 16 << 10;
  private static final long MAX_BLOCK_BYTES = 1 << 20;

  private final List<Block> blocks = new ArrayList<>();
  private int current = -1;
  private long at;
  private long end;

  private record Block(Arena arena, long address, long bytes) {}

  /// Address of `bytes` fresh bytes, not zeroed.
  public long allocate(long bytes) {
    long size = (bytes + 7) & ~7L;
    if (end - at < size) {
      nextBlock(size);
    }
    long address = at;
    at += size;
    return address;
  }

  /// Copies a value of `bytes` bytes from an address to this heap.
  public long copy(long address, long bytes) {
    long to = allocate(bytes);
    MemorySegment.copy(MEMORY, address, MEMORY, to, bytes);
    return to;
  }

  /// Bytes of native memory held.
  public long capacityBytes() {
    long sum = 0;
    for (Block block : blocks) {
      sum += block.bytes;
    }
    return sum;
  }

  /// Frees every value at once; keeps the memory for reuse.
  public void reset() {
    if (blocks.isEmpty()) {
      return;
    }
    current = 0;
    at = blocks.get(0).address;
    end = at + blocks.get(0).bytes;
  }

  @Override
  public void close() {
    for (Block block : blocks) {
      block.arena.close();
    }
    blocks.clear();
    current = -1;
    at = 0;
    end = 0;
  }

  private void nextBlock(long size) {
    while (current + 1 < blocks.size()) {
      current++;
      Block block = blocks.get(current);
      at = block.address;
      end = at + block.bytes;
      if (block.bytes >= size) {
        return;
      }
    }
    long bytes =
        Math.max(size, Math.min(MAX_BLOCK_BYTES, FIRST_BLOCK_BYTES << Math.min(blocks.size(), 6)));
    Arena arena = Arena.ofShared();
    long address = arena.allocate(bytes, 64).address();
    blocks.add(new Block(arena, address, bytes));
    current = blocks.size() - 1;
    at = address;
    end = address + bytes;
  }
}
