package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;

/// Functions that trim, fill and translate characters.
public final class StringPadding {
  private static final long MAX_CHARACTER_BYTES = 4;

  /// Characters between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 12) - 1;

  private StringPadding() {}

  /// Removes characters of a set from the ends.
  ///
  /// @param set text of the characters to remove
  public static long trim(long text, long set, boolean left, boolean right, VarHeap heap) {
    long data = Varlena.data(text);
    int begin = 0;
    int end = Varlena.length(text);
    while (left && begin < end && contains(set, data + begin)) {
      begin += Utf8.characterBytes(data + begin);
    }
    while (right && begin < end) {
      int last = end - 1;
      while (last > begin && (RawMemory.getByte(data + last) & 0xC0) == 0x80) {
        last--;
      }
      if (!contains(set, data + last)) {
        break;
      }
      end = last;
    }
    return Varlena.of(heap, data + begin, end - begin);
  }

  /// Whether the character at an address is in a text.
  private static boolean contains(long set, long character) {
    return find(set, character) >= 0;
  }

  /// Index of the character at an address in a text, in characters; -1: not there.
  private static int find(long set, long character) {
    int size = Utf8.characterBytes(character);
    long at = Varlena.data(set);
    long end = at + Varlena.length(set);
    for (int index = 0; at < end; index++) {
      int setSize = Utf8.characterBytes(at);
      if (setSize == size && RawMemory.equalBytes(at, character, size)) {
        return index;
      }
      at += setSize;
    }
    return -1;
  }

  /// Removes blanks from the ends.
  public static long trimBlanks(long text, boolean left, boolean right, VarHeap heap) {
    long data = Varlena.data(text);
    int begin = 0;
    int end = Varlena.length(text);
    while (left && begin < end && RawMemory.getByte(data + begin) == ' ') {
      begin++;
    }
    while (right && begin < end && RawMemory.getByte(data + end - 1) == ' ') {
      end--;
    }
    return Varlena.of(heap, data + begin, end - begin);
  }

  /// Removes bytes of a set from the ends of a bytea.
  public static long trimBytes(long bytes, long set, boolean left, boolean right, VarHeap heap) {
    long data = Varlena.data(bytes);
    int begin = 0;
    int end = Varlena.length(bytes);
    while (left && begin < end && containsByte(set, RawMemory.getByte(data + begin))) {
      begin++;
    }
    while (right && begin < end && containsByte(set, RawMemory.getByte(data + end - 1))) {
      end--;
    }
    return Varlena.of(heap, data + begin, end - begin);
  }

  private static boolean containsByte(long set, byte b) {
    for (int i = 0; i < Varlena.length(set); i++) {
      if (RawMemory.getByte(Varlena.data(set) + i) == b) {
        return true;
      }
    }
    return false;
  }

  /// Fills up to `length` characters in front or behind, cuts what is longer.
  ///
  /// @param fill repeated; 0: a blank
  public static long pad(long text, long length, long fill, boolean left, VarHeap heap) {
    long wanted = Math.max(length, 0);
    long data = Varlena.data(text);
    int bytes = Varlena.length(text);
    int characters = Utf8.count(data, bytes);
    int fillCharacters = fill == 0 ? 1 : Strings.length(fill);
    if (characters >= wanted || fillCharacters == 0) {
      return Varlena.of(heap, data, Utf8.prefixBytes(data, bytes, wanted));
    }
    if (MAX_CHARACTER_BYTES * wanted > Varlena.MAX_BYTES - Varlena.HEADER_BYTES) {
      throw SqlErrors.lengthTooLarge();
    }
    long missing = wanted - characters;
    long whole = missing / fillCharacters;
    int fillBytes = fill == 0 ? 1 : Varlena.length(fill);
    int restBytes =
        fill == 0 ? 0 : Utf8.prefixBytes(Varlena.data(fill), fillBytes, missing % fillCharacters);
    long padding = whole * fillBytes + restBytes;
    long result = Varlena.allocate(heap, bytes + padding);
    long to = Varlena.data(result) + (left ? 0 : bytes);
    if (fill == 0) {
      CharacterTypes.fill(to, missing, (byte) ' ');
    } else {
      Strings.fill(to, padding, Varlena.data(fill), fillBytes);
    }
    RawMemory.copy(data, Varlena.data(result) + (left ? padding : 0), bytes);
    return result;
  }

  /// Characters of `from` become those of `to` at the same position, or vanish.
  public static long translate(long text, long from, long to, VarHeap heap) {
    int bytes = Varlena.length(text);
    // A character becomes at most four bytes.
    long result = Varlena.allocate(heap, 4L * bytes);
    long out = Varlena.data(result);
    long data = Varlena.data(text);
    int check = 0;
    for (int i = 0; i < bytes; ) {
      // The characters to be replaced may be many.
      if ((++check & CHECK_MASK) == 0) {
        Interrupts.check();
      }
      int size = Utf8.characterBytes(data + i);
      int index = find(from, data + i);
      if (index < 0) {
        RawMemory.copy(data + i, out, size);
        out += size;
      } else {
        int offset = Utf8.prefixBytes(Varlena.data(to), Varlena.length(to), index);
        if (offset < Varlena.length(to)) {
          int toSize = Utf8.characterBytes(Varlena.data(to) + offset);
          RawMemory.copy(Varlena.data(to) + offset, out, toSize);
          out += toSize;
        }
      }
      i += size;
    }
    Varlena.truncate(result, (int) (out - Varlena.data(result)));
    return result;
  }
}
