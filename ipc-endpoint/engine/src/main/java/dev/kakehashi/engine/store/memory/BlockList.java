package dev.kakehashi.engine.store.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Blocks that will be freed together. A block of less than 64 kB takes 8 bytes of the heap, a larger one 16, and a long list is not copied
/// when it grows: a transaction of millions of rows that is taken back leaves one for each value.
///
/// Confined to one thread at a time.
public final class BlockList {
  private static final int FIRST_WORDS = 8;
  private static final int PIECE_WORDS = 1 << 13;

  /// Layout of a word: the address below, the size above; 0: the size is the next word.
  private static final int SIZE_SHIFT = 48;

  private static final long[] NO_WORDS = {};

  private final List<long[]> full = new ArrayList<>(0);
  private long[] last = NO_WORDS;
  private int lastWords;
  private int count;

  /// @param address of a block of a pool, below 2^48, as all addresses that a system gives without being asked for others
  public void add(long address, long bytes) {
    if (address >>> SIZE_SHIFT != 0) {
      throw new IllegalArgumentException("address beyond 48 bits: " + Long.toHexString(address));
    }
    if (bytes >>> (Long.SIZE - SIZE_SHIFT) == 0) {
      addWord(bytes << SIZE_SHIFT | address);
    } else {
      addWord(address);
      addWord(bytes);
    }
    count++;
  }

  private void addWord(long word) {
    if (lastWords == last.length) {
      if (lastWords == PIECE_WORDS) {
        full.add(last);
        last = new long[PIECE_WORDS];
        lastWords = 0;
      } else {
        last = Arrays.copyOf(last, Math.max(FIRST_WORDS, 2 * lastWords));
      }
    }
    last[lastWords++] = word;
  }

  /// Number of blocks.
  public int count() {
    return count;
  }

  /// Frees all blocks and forgets them.
  public void free(MemoryPool pool) {
    long address = 0;
    for (int i = 0; i <= full.size(); i++) {
      long[] words = i < full.size() ? full.get(i) : last;
      int length = i < full.size() ? PIECE_WORDS : lastWords;
      for (int w = 0; w < length; w++) {
        long word = words[w];
        if (address != 0) {
          pool.free(address, word);
          address = 0;
        } else if (word >>> SIZE_SHIFT == 0) {
          address = word;
        } else {
          pool.free(word & (1L << SIZE_SHIFT) - 1, word >>> SIZE_SHIFT);
        }
      }
    }
    full.clear();
    lastWords = 0;
    count = 0;
  }
}
