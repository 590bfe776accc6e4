package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;

/// LIKE and ILIKE: `%` any string, `_` any character, backslash takes the next character literally.
///
/// On a mismatch only the last `%` can take more, so one place to go back to is enough; the cost is at most the product of the lengths.
public final class Like {
  private static final int CASE_BIT = 0x20;

  /// Mismatches between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 12) - 1;

  private Like() {}

  /// @param ignoreCase ILIKE: ASCII letters of both cases are equal
  /// @throws EngineException INVALID_ESCAPE_SEQUENCE for a pattern that ends with the escape character
  public static boolean matches(long text, long pattern, boolean ignoreCase) {
    return matches(text, pattern, ignoreCase, false);
  }

  /// LIKE of bytea: `_` is any byte.
  public static boolean matchesBytes(long bytes, long pattern) {
    return matches(bytes, pattern, false, true);
  }

  private static boolean matches(long text, long pattern, boolean ignoreCase, boolean bytes) {
    long t = Varlena.data(text);
    long textEnd = t + Varlena.length(text);
    long p = Varlena.data(pattern);
    long patternEnd = p + Varlena.length(pattern);
    int retries = 0;
    long retryText = 0;
    long retryPattern = 0; // behind the last %, 0: none yet
    while (t < textEnd) {
      boolean advanced = false;
      if (p < patternEnd) {
        byte c = RawMemory.getByte(p);
        if (c == '%') {
          p++;
          retryPattern = p;
          retryText = t;
          if (p == patternEnd) {
            return true;
          }
          continue;
        }
        if (c == '_') {
          p++;
          t += bytes ? 1 : Utf8.characterBytes(t);
          advanced = true;
        } else {
          long literal = c == '\\' ? escaped(p, patternEnd) : p;
          if (equal(RawMemory.getByte(t), RawMemory.getByte(literal), ignoreCase)) {
            t++;
            p = literal + 1;
            advanced = true;
          }
        }
      }
      if (!advanced) {
        if (retryPattern == 0) {
          return false;
        }
        if ((++retries & CHECK_MASK) == 0) {
          Interrupts.check();
        }
        retryText += bytes ? 1 : Utf8.characterBytes(retryText);
        t = retryText;
        p = retryPattern;
      }
    }
    while (p < patternEnd && RawMemory.getByte(p) == '%') {
      p++;
    }
    return p == patternEnd;
  }

  private static long escaped(long p, long patternEnd) {
    if (p + 1 >= patternEnd) {
      throw new EngineException(
          ErrorCode.INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character");
    }
    return p + 1;
  }

  private static boolean equal(byte a, byte b, boolean ignoreCase) {
    if (a == b) {
      return true;
    }
    int lower = a | CASE_BIT;
    return ignoreCase && lower == (b | CASE_BIT) && lower >= 'a' && lower <= 'z';
  }

  /// A pattern with another escape character, rewritten for backslash.
  ///
  /// @param escape one character, or empty: none
  public static long rewriteEscape(long pattern, long escape, VarHeap heap) {
    int escapeBytes = Varlena.length(escape);
    if (escapeBytes > 0 && escapeBytes != Utf8.characterBytes(Varlena.data(escape))) {
      throw new EngineException(ErrorCode.INVALID_ESCAPE_SEQUENCE, "invalid escape string")
          .withHint("Escape string must be empty or one character.");
    }
    if (escapeBytes == 1 && RawMemory.getByte(Varlena.data(escape)) == '\\') {
      return pattern;
    }
    int bytes = Varlena.length(pattern);
    long data = Varlena.data(pattern);
    long result = Varlena.allocate(heap, 2L * bytes);
    long out = Varlena.data(result);
    boolean afterEscape = false;
    for (int i = 0; i < bytes; ) {
      int size = Utf8.characterBytes(data + i);
      boolean isEscape =
          escapeBytes == size && RawMemory.equalBytes(data + i, Varlena.data(escape), size);
      if (isEscape && !afterEscape) {
        RawMemory.putByte(out++, (byte) '\\');
        afterEscape = true;
      } else {
        if (RawMemory.getByte(data + i) == '\\') {
          if (!afterEscape) {
            RawMemory.putByte(out++, (byte) '\\');
          }
        }
        RawMemory.copy(data + i, out, size);
        out += size;
        afterEscape = false;
      }
      i += size;
    }
    Varlena.truncate(result, (int) (out - Varlena.data(result)));
    return result;
  }
}
