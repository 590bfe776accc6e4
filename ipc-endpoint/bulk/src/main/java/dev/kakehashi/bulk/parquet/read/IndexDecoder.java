package dev.kakehashi.bulk.parquet.read;

/// Values by their index in a dictionary.
final class IndexDecoder implements ValueDecoder {
  private static final int BLOCK = 1024;
  private final HybridDecoder indices = new HybridDecoder();
  private final int[] block = new int[BLOCK];
  private final Dictionary dictionary;

  IndexDecoder(Dictionary dictionary) {
    this.dictionary = dictionary;
  }

  @Override
  public void open(byte[] source, int from, int to, int most) {
    if (from == to) {
      // Nothing but nulls.
      indices.open(source, from, to, 0);
    } else {
      indices.open(source, from + 1, to, source[from] & 0xFF);
    }
  }

  @Override
  public void longs(long[] into, int from, int count) {
    long[] entries = dictionary.longs;
    for (int done = 0; done < count; done += BLOCK) {
      int taken = readBlock(count - done);
      int base = from + done;
      for (int i = 0; i < taken; i++) {
        into[base + i] = entries[block[i]];
      }
    }
  }

  /// The dictionary's entries are, once for all.
  @Override
  public boolean areTyped() {
    return true;
  }

  /// Reads and checks indices.
  private int readBlock(int wanted) {
    int taken = Math.min(BLOCK, wanted);
    indices.read(block, 0, taken);
    int highest = 0;
    int signs = 0;
    for (int i = 0; i < taken; i++) {
      highest = Math.max(highest, block[i]);
      signs |= block[i];
    }
    if (highest >= dictionary.count || signs < 0) {
      throw Damage.of("a value is not in its dictionary");
    }
    return taken;
  }

  @Override
  public void pieces(int[] starts, int[] lengths, int from, int count) {
    int[] entryStarts = dictionary.starts;
    int[] entryLengths = dictionary.lengths;
    for (int done = 0; done < count; done += BLOCK) {
      int taken = readBlock(count - done);
      int base = from + done;
      for (int i = 0; i < taken; i++) {
        int entry = block[i];
        starts[base + i] = entryStarts[entry];
        lengths[base + i] = entryLengths[entry];
      }
    }
  }

  @Override
  public byte[] bytes() {
    return dictionary.bytes;
  }

  /// Gives the dictionary's memory back.
  @Override
  public void close() {
    dictionary.close();
  }
}
