package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;

/// Functions that cut, join and fold texts. Values are addresses of varlenas; positions and lengths count characters, from 1.
///
/// Upper and lower case are those of the "C" locale: only ASCII letters change.
public final class Strings {
  private static final int CASE_BIT = 0x20;

  private static final int STEP_MASK = Interrupts.STEPS - 1;

  /// Copied at a time by [#fill].
  private static final int FILL_BYTES = 1 << 20;

  private Strings() {}

  /// Characters.
  public static int length(long text) {
    return Utf8.count(Varlena.data(text), Varlena.length(text));
  }

  public static long lower(long text, VarHeap heap) {
    return foldCase(text, 'A', heap);
  }

  public static long upper(long text, VarHeap heap) {
    return foldCase(text, 'a', heap);
  }

  /// Flips the case of 26 letters from `first` on; bytes of longer characters are never among them.
  private static long foldCase(long text, char first, VarHeap heap) {
    int bytes = Varlena.length(text);
    long from = Varlena.data(text);
    long result = Varlena.allocate(heap, bytes);
    long to = Varlena.data(result);
    for (int begin = 0; begin < bytes; begin += Interrupts.STEPS) {
      if (begin > 0) {
        Interrupts.check();
      }
      foldCase(from, to, begin, (int) Math.min(bytes, (long) begin + Interrupts.STEPS), first);
    }
    return result;
  }

  private static void foldCase(long from, long to, int begin, int end, char first) {
    for (int i = begin; i < end; i++) {
      byte b = RawMemory.getByte(from + i);
      int letter = b - first;
      RawMemory.putByte(to + i, letter >= 0 && letter < 26 ? (byte) (b ^ CASE_BIT) : b);
    }
  }

  /// Upper case at the beginning of a word of letters and digits, lower case elsewhere.
  public static long initcap(long text, VarHeap heap) {
    long result = lower(text, heap);
    long data = Varlena.data(result);
    boolean inWord = false;
    for (int i = 0; i < Varlena.length(result); i++) {
      if ((i & STEP_MASK) == STEP_MASK) {
        Interrupts.check();
      }
      byte b = RawMemory.getByte(data + i);
      boolean lower = b >= 'a' && b <= 'z';
      if (lower && !inWord) {
        RawMemory.putByte(data + i, (byte) (b ^ CASE_BIT));
      }
      inWord = lower || (b >= '0' && b <= '9');
    }
    return result;
  }

  public static long concat(long a, long b, VarHeap heap) {
    int bytesA = Varlena.length(a);
    int bytesB = Varlena.length(b);
    long result = Varlena.allocate(heap, (long) bytesA + bytesB);
    RawMemory.copy(Varlena.data(a), Varlena.data(result), bytesA);
    RawMemory.copy(Varlena.data(b), Varlena.data(result) + bytesA, bytesB);
    return result;
  }

  /// From a position to the end.
  public static long substring(long text, long from, VarHeap heap) {
    return slice(text, from - 1, Long.MAX_VALUE, heap);
  }

  /// @throws EngineException SUBSTRING_ERROR for a negative length
  public static long substring(long text, long from, long length, VarHeap heap) {
    if (length < 0) {
      throw new EngineException(ErrorCode.SUBSTRING_ERROR, "negative substring length not allowed");
    }
    return slice(text, from - 1, from - 1 + length, heap);
  }

  /// Characters `begin .. end-1`, counted from 0; bounds may lie outside.
  private static long slice(long text, long begin, long end, VarHeap heap) {
    int bytes = Varlena.length(text);
    long data = Varlena.data(text);
    if (end <= 0 || end <= begin) {
      return Varlena.allocate(heap, 0);
    }
    int first = begin <= 0 ? 0 : Utf8.prefixBytes(data, bytes, begin);
    long characters = end - Math.max(begin, 0);
    int length = Utf8.prefixBytes(data + first, bytes - first, characters);
    return Varlena.of(heap, data + first, length);
  }

  /// The first characters; negative: all but the last ones.
  public static long left(long text, long count, VarHeap heap) {
    return slice(text, 0, count >= 0 ? count : length(text) + count, heap);
  }

  /// The last characters; negative: all but the first ones.
  public static long right(long text, long count, VarHeap heap) {
    return slice(text, count < 0 ? -count : length(text) - count, Long.MAX_VALUE, heap);
  }

  /// @throws EngineException LIMIT_EXCEEDED beyond 1 GB
  public static long repeat(long text, long count, VarHeap heap) {
    int bytes = Varlena.length(text);
    long times = Math.max(count, 0);
    long result = Varlena.allocate(heap, bytes * times);
    fill(Varlena.data(result), bytes * times, Varlena.data(text), bytes);
    return result;
  }

  /// Fills `total` bytes at an address with copies of `bytes` bytes, the last one cut off.
  static void fill(long to, long total, long from, int bytes) {
    if (bytes == 0) {
      return;
    }
    // Bytes that are there already are copied, the double each time: single copies of a few bytes
    // take long.
    long done = Math.min(bytes, total);
    RawMemory.copy(from, to, done);
    while (done < total) {
      if (done >= Interrupts.STEPS) {
        Interrupts.check();
      }
      long whole = Math.min(done, Math.max(bytes, FILL_BYTES / bytes * bytes));
      long next = Math.min(whole, total - done);
      RawMemory.copy(to, to + done, next);
      done += next;
    }
  }

  public static long reverse(long text, VarHeap heap) {
    int bytes = Varlena.length(text);
    long from = Varlena.data(text);
    long result = Varlena.allocate(heap, bytes);
    long end = Varlena.data(result) + bytes;
    int check = 0;
    for (int i = 0; i < bytes; ) {
      if ((++check & STEP_MASK) == 0) {
        Interrupts.check();
      }
      int size = Utf8.characterBytes(from + i);
      end -= size;
      RawMemory.copy(from + i, end, size);
      i += size;
    }
    return result;
  }

  /// Code point of the first character; 0 for the empty text.
  public static long ascii(long text) {
    return Varlena.length(text) == 0 ? 0 : Utf8.codePoint(Varlena.data(text));
  }

  /// @throws EngineException LIMIT_EXCEEDED for what is no character, also 0
  public static long chr(long codePoint, VarHeap heap) {
    if (codePoint == 0) {
      throw new EngineException(ErrorCode.LIMIT_EXCEEDED, "null character not permitted");
    }
    if (codePoint < 0) {
      throw SqlErrors.invalidParameter("character number must be positive");
    }
    if (codePoint > Character.MAX_CODE_POINT || (codePoint >= 0xD800 && codePoint <= 0xDFFF)) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          codePoint > Character.MAX_CODE_POINT
              ? "requested character too large for encoding: " + codePoint
              : "requested character not valid for encoding: " + codePoint);
    }
    return Varlena.of(heap, Character.toString((int) codePoint));
  }

  /// Replaces `length` characters from a position by another text.
  public static long overlay(long text, long with, long from, long length, VarHeap heap) {
    if (from <= 0) {
      throw new EngineException(ErrorCode.SUBSTRING_ERROR, "negative substring length not allowed");
    }
    long after = from + length;
    if (after != (int) after) {
      throw SqlErrors.outOfRange("integer");
    }
    long head = substring(text, 1, from - 1, heap);
    return concat(concat(head, with, heap), substring(text, after, heap), heap);
  }
}
