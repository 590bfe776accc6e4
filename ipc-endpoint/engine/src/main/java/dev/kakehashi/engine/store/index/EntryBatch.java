package dev.kakehashi.engine.store.index;

/// Entries copied out of a leaf. Confined to one thread at a time.
public final class EntryBatch {
  private final KeyBuffer data = new KeyBuffer(256);
  private int[] offsets = new int[16];
  private int count;

  /// Whether an entry equal to the position where to go on is still to come.
  public boolean inclusive;

  /// The way to the leaf.
  final Descent way = new Descent();

  public int count() {
    return count;
  }

  /// The bytes that all entries lie in.
  public byte[] bytes() {
    return data.bytes;
  }

  public int offset(int entry) {
    return offsets[entry];
  }

  public int length(int entry) {
    return (entry + 1 < count ? offsets[entry + 1] : data.length) - offsets[entry];
  }

  /// The last 8 bytes of an entry.
  public long rowId(int entry) {
    return KeyBuffer.longAt(data.bytes, offset(entry) + length(entry) - 8);
  }

  /// Compares an entry with a key.
  public int compare(int entry, KeyBuffer key) {
    int from = offset(entry);
    return java.util.Arrays.compareUnsigned(
        data.bytes, from, from + length(entry), key.bytes, 0, key.length);
  }

  /// Takes all entries away.
  public void clear() {
    count = 0;
    data.length = 0;
  }

  void add(long node, int slot) {
    if (count == offsets.length) {
      offsets = java.util.Arrays.copyOf(offsets, count * 2);
    }
    offsets[count++] = data.length;
    IndexNode.copyKey(node, slot, data, data.length);
  }

  void copyLast(KeyBuffer to) {
    to.set(data.bytes, offset(count - 1), length(count - 1));
  }
}
