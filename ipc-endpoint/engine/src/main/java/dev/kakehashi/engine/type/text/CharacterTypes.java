package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.lang.foreign.ValueLayout;

/// varchar(n) and char(n): lengths in characters, blanks.
public final class CharacterTypes {
  private CharacterTypes() {}

  /// @param length characters
  /// @param explicit cuts what is too long; otherwise only blanks may be cut
  public static long varchar(long value, int length, boolean explicit, VarHeap heap) {
    int bytes = Varlena.length(value);
    if (bytes <= length) {
      return value;
    }
    long data = Varlena.data(value);
    int kept = Utf8.prefixBytes(data, bytes, length);
    if (kept == bytes) {
      return value;
    }
    if (!explicit) {
      requireBlanks(data, kept, bytes, "character varying", length);
    }
    return Varlena.of(heap, data, kept);
  }

  /// As [#varchar], and fills with blanks what is too short.
  public static long bpchar(long value, int length, boolean explicit, VarHeap heap) {
    int bytes = Varlena.length(value);
    long data = Varlena.data(value);
    int characters = Utf8.count(data, bytes);
    if (characters == length) {
      return value;
    }
    if (characters > length) {
      int kept = Utf8.prefixBytes(data, bytes, length);
      if (!explicit) {
        requireBlanks(data, kept, bytes, "character", length);
      }
      return Varlena.of(heap, data, kept);
    }
    int blanks = length - characters;
    long padded = Varlena.allocate(heap, (long) bytes + blanks);
    RawMemory.copy(data, Varlena.data(padded), bytes);
    fill(Varlena.data(padded) + bytes, blanks, (byte) ' ');
    return padded;
  }

  static void fill(long address, long bytes, byte value) {
    for (long i = 0; i < bytes; i++) {
      VarHeap.MEMORY.set(ValueLayout.JAVA_BYTE, address + i, value);
    }
  }

  private static void requireBlanks(long data, int from, int to, String typeName, int length) {
    for (int i = from; i < to; i++) {
      if (RawMemory.getByte(data + i) != ' ') {
        throw SqlErrors.tooLong(typeName + "(" + length + ")");
      }
    }
  }

  /// Text of a bpchar: without trailing blanks.
  public static long withoutTrailingBlanks(long value, VarHeap heap) {
    int bytes = Varlena.length(value);
    long data = Varlena.data(value);
    int kept = bytes;
    while (kept > 0 && RawMemory.getByte(data + kept - 1) == ' ') {
      kept--;
    }
    return kept == bytes ? value : Varlena.of(heap, data, kept);
  }
}
