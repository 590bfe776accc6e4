package dev.kakehashi.engine.store.memory;

/// Blocks of one size. Thread-safe.
///
/// Its chunks that have a free block form a list. One whose last block is freed goes back to the source, and can become anything; one alone
/// is kept, so that a block that is taken and freed again and again does not take a chunk each time.
final class SizeClass {
  /// Bytes of a block.
  final int bytes;

  private final int number;
  private final ChunkSource chunks;
  private final boolean ofReserve;

  /// Offset of the next free block's address in a free block.
  private final int linkOffset;

  /// All below is guarded by `this`. The first chunk of those with a free block; 0: none.
  private long first;

  /// A chunk without a block in use, which is on the list; 0: none.
  private long empty;

  private long live;

  /// @param number in what [Chunk#sizeClass] says
  /// @param ofReserve takes its chunks of what is kept for those who make room
  SizeClass(ChunkSource chunks, int number, int bytes, int linkOffset, boolean ofReserve) {
    this.chunks = chunks;
    this.number = number;
    this.bytes = bytes;
    this.linkOffset = linkOffset;
    this.ofReserve = ofReserve;
  }

  /// A block; 0 at the limit.
  synchronized long allocate() {
    return first != 0 || begin() ? take() : 0;
  }

  /// A block of the chunks that the class has; 0: there is none.
  synchronized long allocateHere() {
    return first == 0 ? 0 : take();
  }

  /// The first of some blocks side by side, which together are not more than a chunk; 0 at the limit.
  synchronized long allocateNeighbours(int count) {
    if ((first == 0 || unused(first) < count) && !begin()) {
      return 0;
    }
    long chunk = first;
    long address = Chunk.unused(chunk);
    Chunk.unused(chunk, address + (long) count * bytes);
    taken(chunk, count);
    return address;
  }

  private int unused(long chunk) {
    return (int) ((chunk + Chunk.BYTES - Chunk.unused(chunk)) / bytes);
  }

  /// Puts a new chunk first.
  private boolean begin() {
    long chunk = chunks.take(ofReserve);
    if (chunk == 0) {
      return false;
    }
    Chunk.begin(chunk, number);
    link(chunk);
    return true;
  }

  private long take() {
    long chunk = first;
    long address = Chunk.free(chunk);
    if (address != 0) {
      Chunk.free(chunk, Native.getLong(address + linkOffset));
    } else {
      address = Chunk.unused(chunk);
      Chunk.unused(chunk, address + bytes);
      if (linkOffset > 0) {
        Native.putLong(address, 0);
      }
    }
    taken(chunk, 1);
    return address;
  }

  private void taken(long chunk, int count) {
    if (chunk == empty) {
      empty = 0;
    }
    Chunk.live(chunk, Chunk.live(chunk) + count);
    live += count;
    if (Chunk.free(chunk) == 0 && unused(chunk) == 0) {
      unlink(chunk);
    }
  }

  synchronized void free(long address) {
    long chunk = Chunk.at(address);
    Native.putLong(address + linkOffset, Chunk.free(chunk));
    Chunk.free(chunk, address);
    int left = Chunk.live(chunk) - 1;
    Chunk.live(chunk, left);
    live--;
    if (!Chunk.isListed(chunk)) {
      link(chunk);
    }
    if (left == 0) {
      if (ofReserve || empty != 0) {
        giveBack(chunk);
      } else {
        empty = chunk;
      }
    }
  }

  /// Gives back the chunk that is kept though no block of it is in use.
  synchronized void trim() {
    if (empty != 0) {
      giveBack(empty);
      empty = 0;
    }
  }

  private void giveBack(long chunk) {
    unlink(chunk);
    if (linkOffset > 0) {
      chunks.giveLater(chunk, ofReserve);
    } else {
      chunks.give(chunk, ofReserve);
    }
  }

  private void link(long chunk) {
    Chunk.listed(chunk, true);
    Chunk.next(chunk, first);
    Chunk.previous(chunk, 0);
    if (first != 0) {
      Chunk.previous(first, chunk);
    }
    first = chunk;
  }

  private void unlink(long chunk) {
    Chunk.listed(chunk, false);
    long next = Chunk.next(chunk);
    long previous = Chunk.previous(chunk);
    if (next != 0) {
      Chunk.previous(next, previous);
    }
    if (previous != 0) {
      Chunk.next(previous, next);
    } else {
      first = next;
    }
  }

  /// Bytes of the blocks that are in use.
  synchronized long usedBytes() {
    return live * bytes;
  }
}
