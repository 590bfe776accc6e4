package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;

/// The words of a column in a page: a block with 1, 2, 4 or 8 bytes a slot, signed. A place is the block's address, a multiple of 8, with
/// the power of two of the bytes in its low bits. [Page] says how reads and writes are ordered.
public final class Words {
  private static final int WIDTH_MASK = 7;
  private static final int ONE = 0;
  private static final int TWO = 1;
  private static final int FOUR = 2;
  private static final int EIGHT = 3;

  private Words() {}

  static long allocate(MemoryPool pool, int width, int rows) {
    return pool.allocate((long) rows << width) | width;
  }

  static long address(long place) {
    return place & ~WIDTH_MASK;
  }

  static long bytes(long place, int rows) {
    return (long) rows << (place & WIDTH_MASK);
  }

  /// Least width of a word, as power of two of its bytes.
  static int width(long word) {
    return word == (byte) word
        ? ONE
        : word == (short) word ? TWO : word == (int) word ? FOUR : EIGHT;
  }

  static boolean fits(long place, long word) {
    int unused = Long.SIZE - (Byte.SIZE << (place & WIDTH_MASK));
    return word << unused >> unused == word;
  }

  static long get(long place, int slot) {
    long address = address(place);
    return switch ((int) place & WIDTH_MASK) {
      case EIGHT -> Native.getLong(address + 8L * slot);
      case FOUR -> Native.getInt(address + 4L * slot);
      case TWO -> (short) Native.getUnsignedShort(address + 2L * slot);
      default -> Native.getByte(address + slot);
    };
  }

  static void put(long place, int slot, long word) {
    long address = address(place);
    switch ((int) place & WIDTH_MASK) {
      case EIGHT -> Native.putLong(address + 8L * slot, word);
      case FOUR -> Native.putInt(address + 4L * slot, (int) word);
      case TWO -> Native.putShort(address + 2L * slot, (int) word);
      default -> Native.putByte(address + slot, (byte) word);
    }
  }

  /// Copies the words of neighbours.
  ///
  /// @param from the first slot
  public static void copy(long place, int from, long[] to, int index, int count) {
    long address = address(place);
    switch ((int) place & WIDTH_MASK) {
      case EIGHT -> Native.copyToArray(address + 8L * from, to, index, count);
      case FOUR -> {
        long at = address + 4L * from;
        for (int i = 0; i < count; i++) {
          to[index + i] = Native.getInt(at + 4L * i);
        }
      }
      case TWO -> {
        long at = address + 2L * from;
        for (int i = 0; i < count; i++) {
          to[index + i] = (short) Native.getUnsignedShort(at + 2L * i);
        }
      }
      default -> {
        long at = address + from;
        for (int i = 0; i < count; i++) {
          to[index + i] = Native.getByte(at + i);
        }
      }
    }
  }

  /// Copies the words of some slots.
  public static void gather(long place, int[] slots, int count, long[] to, int index) {
    long address = address(place);
    switch ((int) place & WIDTH_MASK) {
      case EIGHT -> {
        for (int i = 0; i < count; i++) {
          to[index + i] = Native.getLong(address + 8L * slots[i]);
        }
      }
      case FOUR -> {
        for (int i = 0; i < count; i++) {
          to[index + i] = Native.getInt(address + 4L * slots[i]);
        }
      }
      case TWO -> {
        for (int i = 0; i < count; i++) {
          to[index + i] = (short) Native.getUnsignedShort(address + 2L * slots[i]);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          to[index + i] = Native.getByte(address + slots[i]);
        }
      }
    }
  }
}
