package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;

/// Functions that look for one text in another. UTF-8 lets bytes be compared: a character never begins within another.
public final class StringSearch {
  /// Occurrences between two looks for a cancel, less one.
  private static final int COUNT_MASK = (1 << 12) - 1;

  private StringSearch() {}

  /// Offset of the first occurrence at or after `from` in bytes; -1: none.
  static int indexOf(long text, int from, long part) {
    int bytes = Varlena.length(part);
    int last = Varlena.length(text) - bytes;
    long data = Varlena.data(text);
    long wanted = Varlena.data(part);
    if (bytes == 0) {
      return from;
    }
    byte first = RawMemory.getByte(wanted);
    int at = from;
    while (at <= last) {
      if (at - from >= Interrupts.STEPS) {
        Interrupts.check();
      }
      int end = (int) Math.min(last, (long) at + Interrupts.STEPS);
      for (; at <= end; at++) {
        if (RawMemory.getByte(data + at) == first
            && RawMemory.equalBytes(data + at, wanted, bytes)) {
          return at;
        }
      }
    }
    return -1;
  }

  /// Character position of the first occurrence, from 1; 0: none.
  public static long position(long text, long part) {
    int at = indexOf(text, 0, part);
    return at < 0 ? 0 : Utf8.count(Varlena.data(text), at) + 1L;
  }

  /// Byte position of the first occurrence, from 1; 0: none.
  public static long bytePosition(long bytes, long part) {
    return indexOf(bytes, 0, part) + 1L;
  }

  public static boolean startsWith(long text, long prefix) {
    int bytes = Varlena.length(prefix);
    return bytes <= Varlena.length(text)
        && RawMemory.equalBytes(Varlena.data(text), Varlena.data(prefix), bytes);
  }

  /// Every occurrence of `from` replaced; an empty `from` occurs nowhere.
  public static long replace(long text, long from, long to, VarHeap heap) {
    int fromBytes = Varlena.length(from);
    int count = 0;
    if (fromBytes > 0) {
      for (int at = indexOf(text, 0, from); at >= 0; at = indexOf(text, at + fromBytes, from)) {
        if ((++count & COUNT_MASK) == 0) {
          Interrupts.check();
        }
      }
    }
    if (count == 0) {
      return text;
    }
    int toBytes = Varlena.length(to);
    long size = Varlena.length(text) + (long) count * (toBytes - fromBytes);
    long result = Varlena.allocate(heap, size);
    long out = Varlena.data(result);
    int begin = 0;
    for (int i = 0; i < count; i++) {
      if ((i & COUNT_MASK) == COUNT_MASK) {
        Interrupts.check();
      }
      int at = indexOf(text, begin, from);
      RawMemory.copy(Varlena.data(text) + begin, out, at - begin);
      out += at - begin;
      RawMemory.copy(Varlena.data(to), out, toBytes);
      out += toBytes;
      begin = at + fromBytes;
    }
    RawMemory.copy(Varlena.data(text) + begin, out, Varlena.length(text) - begin);
    return result;
  }

  /// The n-th field, from 1; negative: from the end. Empty when there are fewer.
  public static long splitPart(long text, long delimiter, long field, VarHeap heap) {
    if (field == 0) {
      throw SqlErrors.invalidParameter("field position must not be zero");
    }
    int bytes = Varlena.length(text);
    int delimiterBytes = Varlena.length(delimiter);
    if (bytes == 0) {
      return Varlena.allocate(heap, 0);
    }
    if (delimiterBytes == 0) {
      return field == 1 || field == -1 ? text : Varlena.allocate(heap, 0);
    }
    return field > 0
        ? splitFromStart(text, delimiter, field, heap)
        : splitFromEnd(text, delimiter, -field, heap);
  }

  private static long splitFromStart(long text, long delimiter, long field, VarHeap heap) {
    int begin = 0;
    for (long i = 1; ; i++) {
      int at = indexOf(text, begin, delimiter);
      int end = at < 0 ? Varlena.length(text) : at;
      if (i == field) {
        return Varlena.of(heap, Varlena.data(text) + begin, end - begin);
      }
      if (at < 0) {
        return Varlena.allocate(heap, 0);
      }
      begin = at + Varlena.length(delimiter);
    }
  }

  // The last field is what follows the last delimiter found from the start, as PostgreSQL counts:
  // delimiters do not overlap.
  private static long splitFromEnd(long text, long delimiter, long field, VarHeap heap) {
    int delimiterBytes = Varlena.length(delimiter);
    long fields = 1;
    for (int at = indexOf(text, 0, delimiter);
        at >= 0;
        at = indexOf(text, at + delimiterBytes, delimiter)) {
      fields++;
    }
    return field > fields
        ? Varlena.allocate(heap, 0)
        : splitFromStart(text, delimiter, fields - field + 1, heap);
  }
}
