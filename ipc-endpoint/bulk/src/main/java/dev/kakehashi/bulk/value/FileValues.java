package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Storage;
import org.jspecify.annotations.Nullable;

/// Some values of one column of a file, decoded columnwise. The arrays are the reader's to fill, and kept for the next values. Not
/// thread-safe.
///
/// | storage of the type | a value that is there |
/// |---|---|
/// | LONG | `longs()[i]` |
/// | BYTES | `lengths()[i]` bytes of `bytes()` from `starts()[i]` on; values may share bytes, as those of a dictionary do |
/// | LIST | `lengths()[i]` values of `items()` from `starts()[i]` on |
/// | NONE | none is |
///
/// Starts and lengths have to be checked by the reader, for nulls, too: they lie within the bytes or items.
public final class FileValues {
  private static final byte[] NO_BYTES = {};

  private final FileType type;
  private final @Nullable FileValues items;
  private int count;
  private boolean hasNulls;
  private byte[] present = NO_BYTES;
  private long[] longs = {};
  private byte[] bytes = NO_BYTES;
  private int[] starts = {};
  private int[] lengths = {};

  public FileValues(FileType type) {
    this.type = type;
    FileType item = type.item();
    this.items = item == null ? null : new FileValues(item);
  }

  public FileType type() {
    return type;
  }

  public int count() {
    return count;
  }

  /// Begins anew with so many values: none is null yet, the others' contents are undefined until they are set.
  public void begin(int values) {
    count = values;
    hasNulls = type.storage() == Storage.NONE;
    switch (type.storage()) {
      case LONG -> {
        if (longs.length < values) {
          longs = new long[roomFor(values)];
        }
      }
      case BYTES, LIST -> {
        if (starts.length < values) {
          starts = new int[roomFor(values)];
          lengths = new int[starts.length];
        }
      }
      case NONE -> markNulls();
    }
  }

  private static int roomFor(int values) {
    return Math.max(values, 64);
  }

  /// Says that there may be nulls.
  ///
  /// @return a byte for each value: 0 null, 1 there; to be filled by the caller, all of it is 0
  public byte[] markNulls() {
    hasNulls = true;
    if (present.length < count) {
      present = new byte[roomFor(count)];
    } else {
      java.util.Arrays.fill(present, 0, count, (byte) 0);
    }
    return present;
  }

  /// Whether there may be nulls; otherwise `present()` is of no meaning.
  public boolean hasNulls() {
    return hasNulls;
  }

  /// 0: null.
  public byte[] present() {
    return present;
  }

  public boolean isNull(int index) {
    return hasNulls && present[index] == 0;
  }

  public long[] longs() {
    return longs;
  }

  /// Gives the bytes that starts and lengths are of; they stay the reader's.
  public void setBytes(byte[] shared) {
    bytes = shared;
  }

  public byte[] bytes() {
    return bytes;
  }

  public int[] starts() {
    return starts;
  }

  public int[] lengths() {
    return lengths;
  }

  /// Elements of a list's values.
  ///
  /// @throws IllegalStateException when it is none
  public FileValues items() {
    if (items == null) {
      throw new IllegalStateException(type + " has no elements");
    }
    return items;
  }

  /// Bytes of memory that it holds, without the shared ones.
  public long heldBytes() {
    return present.length
        + 8L * longs.length
        + 8L * starts.length
        + (items == null ? 0 : items.heldBytes());
  }
}
