package dev.kakehashi.bulk.parquet.read;

/// Integers as differences.
final class DeltaLongs implements ValueDecoder {
  private static final byte[] NONE = {};
  private final DeltaDecoder deltas = new DeltaDecoder();
  private final boolean narrow;

  /// @param narrow the values are of 32 bits, and wrap there
  DeltaLongs(boolean narrow) {
    this.narrow = narrow;
  }

  @Override
  public void open(byte[] source, int from, int to, int most) {
    // Else nothing but nulls.
    if (from < to) {
      deltas.open(source, from, to, most);
    }
  }

  @Override
  public void longs(long[] into, int from, int count) {
    deltas.read(into, from, count);
    if (narrow) {
      for (int i = from; i < from + count; i++) {
        into[i] = (int) into[i];
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
