package dev.kakehashi.engine.store.memory;

/// Description of a chunk in a pool: 64 kB of memory that are blocks of one size. It lies outside of the chunk, in the
/// first chunk of its region, where it is found by the chunk's address alone: so a freed block's address gives its size class.
///
/// ```
/// offset  size
///      0     4  number of the size class
///      4     4  blocks in use
///      8     8  first free block; each has the address of the next one
///     16     8  blocks from here on have never been used
///     24     8  next and previous chunk of the class that has a free block; 0: none
///     40     8  1: it is among these
/// ```
///
/// Written under the lock of the chunk's class; the class itself by the thread that takes the chunk for it, before another thread knows one
/// of its blocks.
final class Chunk {
  static final int BYTES = 64 << 10;

  /// Chunks of a region and their descriptions: the region's first chunk holds these.
  static final long REGION_BYTES = 64 << 20;

  private static final int SHIFT = 16;
  private static final int DESCRIPTION_SHIFT = 6;

  private static final int LIVE = 4;
  private static final int FREE = 8;
  private static final int UNUSED = 16;
  private static final int NEXT = 24;
  private static final int PREVIOUS = 32;
  private static final int LISTED = 40;

  private Chunk() {}

  /// Where the description of the chunk is that an address lies in.
  private static long of(long address) {
    long region = address & -REGION_BYTES;
    return region + (((address - region) >>> SHIFT) << DESCRIPTION_SHIFT);
  }

  /// The chunk that an address lies in.
  static long at(long address) {
    return address & -(long) BYTES;
  }

  static void begin(long chunk, int sizeClass) {
    long description = of(chunk);
    Native.putInt(description, sizeClass);
    Native.putInt(description + LIVE, 0);
    Native.putLong(description + FREE, 0);
    Native.putLong(description + UNUSED, chunk);
    Native.putLong(description + LISTED, 0);
  }

  /// Number of the size class of a block that is in use.
  static int sizeClass(long address) {
    return Native.getInt(of(address));
  }

  static int live(long chunk) {
    return Native.getInt(of(chunk) + LIVE);
  }

  static void live(long chunk, int blocks) {
    Native.putInt(of(chunk) + LIVE, blocks);
  }

  static long free(long chunk) {
    return Native.getLong(of(chunk) + FREE);
  }

  static void free(long chunk, long block) {
    Native.putLong(of(chunk) + FREE, block);
  }

  static long unused(long chunk) {
    return Native.getLong(of(chunk) + UNUSED);
  }

  static void unused(long chunk, long from) {
    Native.putLong(of(chunk) + UNUSED, from);
  }

  static long next(long chunk) {
    return Native.getLong(of(chunk) + NEXT);
  }

  static void next(long chunk, long other) {
    Native.putLong(of(chunk) + NEXT, other);
  }

  static long previous(long chunk) {
    return Native.getLong(of(chunk) + PREVIOUS);
  }

  static void previous(long chunk, long other) {
    Native.putLong(of(chunk) + PREVIOUS, other);
  }

  static boolean isListed(long chunk) {
    return Native.getLong(of(chunk) + LISTED) != 0;
  }

  static void listed(long chunk, boolean isListed) {
    Native.putLong(of(chunk) + LISTED, isListed ? 1 : 0);
  }
}
