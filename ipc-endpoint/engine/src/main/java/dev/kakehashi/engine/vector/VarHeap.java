package dev.kakehashi.engine.vector;

import dev.kakehashi.os.LibC;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/// Native memory for by-reference values: allocation by bumping a pointer, release all at once.
///
/// Every allocation is a multiple of 8 and lives until [#reset()] or [#close()]. Confined to one task at a time. Blocks come from malloc,
/// because closing a shared arena stops every thread for a moment, and heaps end with every statement.
public final class VarHeap implements AutoCloseable {
  /// All native memory, for access by absolute address. The code that uses it vouches for the address.
  @SuppressWarnings("restricted") // values are passed as addresses; their owners keep them alive
  public static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final long FIRST_BLOCK_BYTES = 16 << 10;
  private static final long MAX_BLOCK_BYTES = 1 << 20;

  /// A block is no more than this part of what there is, so that who has little memory notices in time that it has grown.
  private static final int GROWTH_DIVISOR = 4;

  /// Many heaps are never used: parameters and columns that are words need none.
  private static final long[] NO_BLOCKS = {};

  private static final int FIRST_BLOCKS = 4;
  private static final MethodHandle MALLOC =
      LibC.function(
          "malloc",
          FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
          Linker.Option.critical(false));
  private static final MethodHandle FREE =
      LibC.function(
          "free", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG), Linker.Option.critical(false));

  /// Bytes of all heaps of the process; changes with each block, not with each value.
  private static final LongAdder HELD_BYTES = new LongAdder();

  private long[] addresses = NO_BLOCKS;
  private long[] sizes = NO_BLOCKS;
  private int blocks;
  private int current = -1;
  private long at;
  private long end;
  private long limitBytes = Long.MAX_VALUE;

  /// There is no room for a value below the heap's limit. The code that has set the limit computes fewer rows at a time.
  public static final class LimitReached extends RuntimeException {
    private static final long serialVersionUID = 1;

    LimitReached() {
      super("more values than the heap's limit allows", null, false, false);
    }
  }

  /// Says how many bytes there may be at a time from now on, but for what the last block has left.
  ///
  /// @param bytes Long.MAX_VALUE: as many as there is memory for
  public void limit(long bytes) {
    limitBytes = bytes;
  }

  /// Address of `bytes` fresh bytes, not zeroed.
  ///
  /// @throws LimitReached if there has been set a limit
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

  /// Takes over the memory of another heap with all values in it; the other one is empty afterwards.
  public void absorb(VarHeap other) {
    if (other.blocks == 0) {
      return;
    }
    // Before our own blocks: what lies behind the current one is to be filled.
    addresses = joined(other.addresses, other.blocks, addresses, blocks);
    sizes = joined(other.sizes, other.blocks, sizes, blocks);
    blocks += other.blocks;
    current += other.blocks;
    other.blocks = 0;
    other.current = -1;
    other.at = 0;
    other.end = 0;
  }

  private static long[] joined(long[] first, int firstCount, long[] second, int secondCount) {
    long[] all = Arrays.copyOf(first, firstCount + secondCount);
    System.arraycopy(second, 0, all, firstCount, secondCount);
    return all;
  }

  /// Bytes of native memory held.
  public long capacityBytes() {
    long sum = 0;
    for (int i = 0; i < blocks; i++) {
      sum += sizes[i];
    }
    return sum;
  }

  /// Bytes of the blocks that have values since the last [#reset()], what is free in the last one not counted.
  public long usedBytes() {
    if (current < 0) {
      return 0;
    }
    long sum = at - addresses[current];
    for (int i = 0; i < current; i++) {
      sum += sizes[i];
    }
    return sum;
  }

  /// Bytes of native memory that all heaps hold. Thread-safe; exact when no statement runs.
  public static long heldBytes() {
    return HELD_BYTES.sum();
  }

  /// Frees every value at once; keeps the memory for reuse.
  public void reset() {
    if (blocks > 0) {
      enter(0);
    }
  }

  /// Frees the memory. The heap is empty afterwards and may be used again.
  @Override
  public void close() {
    for (int i = 0; i < blocks; i++) {
      try {
        FREE.invokeExact(addresses[i]);
      } catch (Throwable e) {
        throw new AssertionError("free does not throw", e);
      }
    }
    HELD_BYTES.add(-capacityBytes());
    blocks = 0;
    current = -1;
    at = 0;
    end = 0;
  }

  private void enter(int block) {
    current = block;
    at = addresses[block];
    end = at + sizes[block];
  }

  private void nextBlock(long size) {
    if (limitBytes != Long.MAX_VALUE && usedBytes() + size > limitBytes) {
      throw new LimitReached();
    }
    while (current + 1 < blocks) {
      enter(current + 1);
      if (end - at >= size) {
        return;
      }
    }
    long bytes =
        Math.max(
            size, Math.clamp(capacityBytes() / GROWTH_DIVISOR, FIRST_BLOCK_BYTES, MAX_BLOCK_BYTES));
    if (blocks == addresses.length) {
      int larger = Math.max(FIRST_BLOCKS, 2 * blocks);
      addresses = Arrays.copyOf(addresses, larger);
      sizes = Arrays.copyOf(sizes, larger);
    }
    addresses[blocks] = malloc(bytes);
    sizes[blocks] = bytes;
    enter(blocks++);
  }

  private static long malloc(long bytes) {
    long address;
    try {
      address = (long) MALLOC.invokeExact(bytes);
    } catch (Throwable e) {
      throw new AssertionError("malloc does not throw", e);
    }
    if (address == 0) {
      throw new OutOfMemoryError("no native memory for " + bytes + " bytes");
    }
    HELD_BYTES.add(bytes);
    return address;
  }
}
