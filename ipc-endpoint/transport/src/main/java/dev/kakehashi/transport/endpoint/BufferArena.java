package dev.kakehashi.transport.endpoint;

import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.os.MappedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/// Result and inbound buffers of one principal: runs of blocks of one file (PROTOCOL.md §5).
///
/// Only the endpoint allocates. A block's memory is reserved before its first use, so that a full file system is an error here and not a
/// SIGBUS later, and stays reserved while free up to a limit: new memory costs 2 µs per page, memory used before nothing.
///
/// Thread-safe by one lock; allocations are some hundred thousand per second at most, one per batch. Memory is reserved and given back
/// outside of it, while the run counts as used: for a long row either takes tens of milliseconds.
final class BufferArena implements AutoCloseable {
  private final MappedFile file;
  private final TransportConfig.Buffers config;
  private final int blockCount;
  private final int retainedBlocks;

  // Guarded by this.
  private final BitSet used;
  private final BitSet reserved;
  private int reservedFree;
  private int usedCount;

  private BufferArena(MappedFile file, TransportConfig.Buffers config) {
    this.file = file;
    this.config = config;
    this.blockCount = (int) (config.principalBytes() / config.blockBytes());
    this.retainedBlocks = (int) (config.retainedBytes() / config.blockBytes());
    this.used = new BitSet(blockCount);
    this.reserved = new BitSet(blockCount);
  }

  static BufferArena create(RuntimeDirectory directory, int uid, TransportConfig.Buffers config)
      throws IOException {
    long bytes = config.principalBytes() / config.blockBytes() * config.blockBytes();
    MappedFile file =
        MappedFile.create(directory.arena().resolve(Integer.toString(uid)), bytes, 0600);
    directory.shareWith(uid, file.path());
    return new BufferArena(file, config);
  }

  /// First block of a run of `blocks` blocks, or -1 when there is no such run free.
  ///
  /// @throws dev.kakehashi.transport.TransportException DISK_FULL when its memory cannot be reserved
  int allocate(int blocks) {
    int first;
    synchronized (this) {
      first = findRun(blocks, true);
      if (first >= 0) {
        take(first, blocks);
        return first;
      }
      first = findRun(blocks, false);
      if (first < 0) {
        return -1;
      }
      take(first, blocks);
    }
    boolean done = false;
    try {
      file.reserve((long) first * config.blockBytes(), (long) blocks * config.blockBytes());
      done = true;
    } finally {
      if (!done) {
        giveBack(first, blocks);
      }
    }
    return first;
  }

  private void take(int first, int blocks) {
    for (int block = first; block < first + blocks; block++) {
      if (reserved.get(block)) {
        reservedFree--;
      }
    }
    reserved.set(first, first + blocks);
    used.set(first, first + blocks);
    usedCount += blocks;
  }

  /// Whether [#allocate(int)] would find a run.
  synchronized boolean hasRun(int blocks) {
    return findRun(blocks, false) >= 0;
  }

  /// Gives a run, or the tail of one, back.
  void free(int first, int blocks) {
    synchronized (this) {
      if (used.nextClearBit(first) < first + blocks) {
        throw new IllegalStateException("block " + first + " of " + blocks + " is freed twice");
      }
      if (reservedFree + blocks <= retainedBlocks) {
        used.clear(first, first + blocks);
        usedCount -= blocks;
        reservedFree += blocks;
        return;
      }
    }
    giveBack(first, blocks);
  }

  /// Gives the memory of a used run to the system, and then the run.
  private void giveBack(int first, int blocks) {
    try {
      file.punch((long) first * config.blockBytes(), (long) blocks * config.blockBytes());
    } finally {
      synchronized (this) {
        reserved.clear(first, first + blocks);
        used.clear(first, first + blocks);
        usedCount -= blocks;
      }
    }
  }

  int blockCount() {
    return blockCount;
  }

  /// Memory of a run; its length is that of the run.
  MemorySegment memory(int first, int blocks) {
    return file.memory()
        .asSlice((long) first * config.blockBytes(), (long) blocks * config.blockBytes());
  }

  long fileBytes() {
    return file.memory().byteSize();
  }

  synchronized int usedBlocks() {
    return usedCount;
  }

  /// First fit. With `onlyReserved`, among blocks whose memory is there.
  private int findRun(int blocks, boolean onlyReserved) {
    if (onlyReserved && reservedFree < blocks) {
      return -1;
    }
    int first = 0;
    while (true) {
      first = used.nextClearBit(first);
      if (onlyReserved) {
        int next = reserved.nextSetBit(first);
        if (next < 0) {
          return -1;
        }
        if (next > first) {
          first = next;
          continue;
        }
      }
      if (first > blockCount - blocks) {
        return -1;
      }
      int end = used.nextSetBit(first);
      if (onlyReserved) {
        int hole = reserved.nextClearBit(first);
        end = end < 0 ? hole : Math.min(end, hole);
      }
      if (end < 0 || end - first >= blocks) {
        return first;
      }
      first = end;
    }
  }

  @Override
  public void close() {
    file.close();
  }
}
