package dev.kakehashi.bulk.parquet.read;

/// Booleans as runs, after their length.
final class RunBooleans implements ValueDecoder {
  private static final int BLOCK = 1024;
  private static final byte[] NONE = {};
  private final HybridDecoder runs = new HybridDecoder();
  private final int[] block = new int[BLOCK];

  @Override
  public void open(byte[] source, int from, int to, int most) {
    if (to - from < Integer.BYTES) {
      runs.open(source, to, to, 1);
      return;
    }
    int length = (int) PlainDecoder.INTS.get(source, from);
    int begin = from + Integer.BYTES;
    if (length < 0 || length > to - begin) {
      throw Damage.of("values leave their page");
    }
    runs.open(source, begin, begin + length, 1);
  }

  @Override
  public void longs(long[] into, int from, int count) {
    for (int done = 0; done < count; done += BLOCK) {
      int taken = Math.min(BLOCK, count - done);
      runs.read(block, 0, taken);
      for (int i = 0; i < taken; i++) {
        into[from + done + i] = block[i] & 1;
      }
    }
  }

  @Override
  public void pieces(int[] starts, int[] lengths, int from, int count) {
    throw new IllegalStateException("values are no pieces");
  }

  @Override
  public byte[] bytes() {
    return NONE;
  }
}
