package dev.kakehashi.bulk.parquet.read;

/// Integers as differences.
final class DeltaLongs implements ValueDecoder {
  private final DeltaDecoder deltas = new DeltaDecoder();
  private final boolean narrow;

  /// @param narrow the values are of 32 bits, and wrap there
  DeltaLongs(boolean narrow) {
    this.narrow = narrow;
  }

  void open(byte[] source, int from, int to, int max) {
    deltas.open(source, from, to, max);
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
    throw new IllegalStateException("values are no pieces");
  }
}
